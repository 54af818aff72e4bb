"""The ember caves: fetch an ember from caves in which signs tell which chambers are perilous."""
