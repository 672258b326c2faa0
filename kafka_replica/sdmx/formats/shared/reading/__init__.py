"""Parts of the readers of several formats: identities, lenient URNs, errors, budgets."""
