"""Exact inference with the interfaces of scikit-learn, Hugging Face, spaCy and others."""
