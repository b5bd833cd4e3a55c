package server

import (
	"context"

	"fulmen/daemon/api"
)

// Deliver sends a client what something comes to, one after the other, as fast as
// the client takes it, up to its one end. What comes later replaces what was not
// sent yet, where a key is given; the end replaces nothing, and nothing replaces
// it. done is called when that is over.
func Deliver[V any](c *Caller, key string, next func(context.Context) (V, error), done func(),
	tell func(sub api.Subscription, n uint64, value V) any, isLast func(V) bool,
) (api.Subscription, error) {
	stream, err := c.Subscribe(nil)
	if err != nil {
		done()
		return "", err
	}
	go func() {
		defer done()
		defer stream.End()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { // a reader who left ends the following, not what is followed
			select {
			case <-stream.Done():
				cancel()
			case <-ctx.Done():
			}
		}()
		for {
			value, err := next(ctx)
			if err != nil || stream.Wait(ctx) != nil {
				return
			}
			if isLast(value) {
				key = ""
			}
			err = stream.Send(key, func(n uint64) any { return tell(stream.Sub(), n, value) })
			if err != nil || isLast(value) {
				return
			}
		}
	}()
	return stream.Sub(), nil
}
