"""Parts of the readers of several formats: identities, lenient references, encodings, errors, budgets."""
