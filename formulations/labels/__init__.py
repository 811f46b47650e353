"""Labels, fields and labelling schemes."""
