"""Rule files in TOML: reading, writing and JSON Schema."""
