package redis_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestRedisOverTLS guarantees that each form connects over TLS and checks each server's certificate against its
// address. The sentinel's certificate is for localhost, the servers' for 127.0.0.1.
func TestRedisOverTLS(t *testing.T) {
	t.Parallel()
	password := rand.Text()
	options := []servers.RedisOption{servers.WithTLS(t, trusted), servers.WithPassword(password)}
	for name, start := range map[string]func(t *testing.T) string{
		"one server": func(t *testing.T) string { return servers.NewRedis(t, options...).URL },
		"sentinels": func(t *testing.T) string {
			s := servers.NewRedisSentinel(t, []servers.RedisOption{servers.WithTLS(t, trusted, "localhost")}, options...)
			return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
		},
		"cluster": func(t *testing.T) string { return servers.NewRedisCluster(t, options...).URL },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := start(t)
			if !strings.HasPrefix(url, "rediss://") {
				t.Fatal(url)
			}
			keeps(t, onRedis(t, servers.As(url, "default", password)), some(40))
			plain := servers.As(strings.Replace(url, "rediss:", "redis:", 1), "default", password)
			if _, err := onRedis(t, plain).Get(t.Context(), "az1:1"); err == nil {
				t.Error("an answer without TLS")
			}
		})
	}
}

// TestStrangersCertificateIsRefused: of an authority that is not trusted, and of another
// name; nothing is sent there.
func TestStrangersCertificateIsRefused(t *testing.T) {
	t.Parallel()
	stranger := must.Get(servers.NewAuthority())(t)
	for want, option := range map[string]servers.RedisOption{
		"unknown authority": servers.WithTLS(t, stranger),
		"127.0.0.1":         servers.WithTLS(t, trusted, "redis.example"),
	} {
		server := servers.NewRedis(t, option)
		r := onRedis(t, server.URL)
		harness.Soon(t, "refused with "+want, func() bool {
			_, err := r.Get(t.Context(), "az1:1")
			if err == nil {
				t.Fatalf("an answer of a server with a certificate of %s", want)
			}
			return strings.Contains(err.Error(), "x509:") && strings.Contains(err.Error(), want)
		})
	}
}
