module github.com/portcullis-authz/portcullis/gateway/client

go 1.26.0
