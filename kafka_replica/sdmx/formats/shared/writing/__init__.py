"""Parts of the writers of several formats: requirements, and the changes that make an artefact meet them."""
