"""Generated from the .proto files beside it by `make proto`; not edited by hand."""
