package transport

import (
	"context"

	"fulmen/daemon/api"
)

// LastWord is a connection for one call to a member that is about to be removed.
// It outlives the removal, which ends every other connection.
type LastWord struct{ client *callClient }

// OpenLastWord opens one. The caller closes it.
func (t *Transport) OpenLastWord(ctx context.Context, node api.NodeID) (*LastWord, error) {
	client, err := t.openCalls(ctx, node)
	if err != nil {
		return nil, err
	}
	return &LastWord{client}, nil
}

// Call makes the call.
func (l *LastWord) Call(ctx context.Context, method string, params any) error {
	raw, err := encoded(method, params)
	if err == nil {
		_, err = l.client.call(ctx, method, raw)
	}
	return err
}

// Close ends it.
func (l *LastWord) Close() { l.client.close() }
