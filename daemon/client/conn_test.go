package client

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Who reads late finds the answer and the end of the connection together.
func TestAnAnswerThatCameIsNotLost(t *testing.T) {
	is := is.New(t)
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	c := &conn{ctx: gone}
	for range 50 { // which of several a select takes is chance
		answer := make(chan incoming, 1)
		answer <- incoming{Result: json.RawMessage("1")}
		result, err := c.await(gone, "daemon.stop", answer)
		is.NoErr(err)
		is.Equal(string(result), "1")
	}
	_, err := c.await(t.Context(), "daemon.stop", make(chan incoming))
	is.True(errors.Is(err, api.ReasonNoDaemon))
	_, err = (&conn{ctx: t.Context()}).await(gone, "daemon.stop", make(chan incoming))
	is.True(errors.Is(err, api.CodeCancelled))
}
