package load_test

import (
	"fmt"
	"net"
	"os"

	"github.com/gofiber/fiber/v2"
)

// serveBare is the bare handler that the others are measured by: it looks at nothing and
// answers a constant of a decision's length.
func serveBare() int {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, StreamRequestBody: true})
	app.Use(func(c *fiber.Ctx) error {
		c.Set("Content-Type", "application/json")
		return c.SendString(`{"allowed":true,"reason":"role load_0000 grants project:kind0000:verb00"}`)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Fprintf(os.Stderr, "{\"msg\":\"ready\",\"listen\":%q}\n", listener.Addr())
		err = app.Listener(listener)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}
