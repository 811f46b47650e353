"""The checker of certificates, which uses only `formulations`."""
