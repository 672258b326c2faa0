"""Web pages: status, explorer, artefacts, history, uploads and producers, rendered on the server without JavaScript.

The package imports the server's versions and problems, and jinja2; the app connects its endpoints. Read ``views``
first, then the module of a page; ``templates`` has its HTML.
"""
