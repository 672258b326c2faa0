"""Parts of the readers of several formats: identities, lenient references, errors, budgets."""
