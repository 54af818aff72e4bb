no script at all
