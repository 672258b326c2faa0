"""Parts of the writers of several formats: their requirements, and the changes that an artefact needs to fit one."""
