"""Rule files in TOML: reading, writing and their JSON Schema."""
