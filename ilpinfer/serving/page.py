"""The description of the service as a web page without external files."""

import json
from typing import Any

from jinja2 import Environment

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{ api.info.title }}</title>
<style>body { font: 16px sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
pre { background: #f4f4f4; padding: .6em; overflow: auto } td, th { text-align: left; vertical-align: top; padding: .2em .8em 0 0 }
</style>
<h1>{{ api.info.title }} {{ api.info.version }}</h1>
<p>{{ api.info.description }}</p>
<p>For programs: <a href="openapi.json">openapi.json</a></p>
{% for path, operations in api.paths.items() %}{% for verb, operation in operations.items() %}
<h2>{{ verb | upper }} {{ path }}</h2>
<p>{{ operation.summary }}</p>
{% for content in operation.get("requestBody", {}).get("content", {}).values() %}
{% for name, example in content.examples.items() %}
<p>Example: {{ name }}</p>
<pre>{{ example.value | shown }}</pre>
{% endfor %}{% endfor %}
<table>{% for status, answer in operation.responses.items() %}
<tr><th>{{ status }}</th><td>{{ answer.description }}</td></tr>{% endfor %}</table>
{% endfor %}{% endfor %}
<h1>Records</h1>
{% for name, schema in api.components.schemas.items() %}
<h2>{{ name }}</h2>
<p>{{ schema.description }}</p>
<table>{% for key, field in schema.properties.items() %}
<tr><th>{{ key }}</th><td>{{ field.description }}</td></tr>{% endfor %}</table>
{% endfor %}
</html>
"""


def page(api: dict[str, Any]) -> str:
    """The page of an OpenAPI schema."""
    environment = Environment(autoescape=True)
    environment.filters["shown"] = lambda value: json.dumps(value)
    return environment.from_string(_PAGE).render(api=api)
