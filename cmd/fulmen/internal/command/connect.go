package command

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// answerTimeout bounds every call: somebody waits at a terminal.
	answerTimeout = 10 * time.Second
	// ownToken is the name of the token in the user's api.json.
	ownToken = "fulmen"
)

// connect finds the daemon. The first time, it also makes the user's own
// api.json, for scripts.
func (r *run) connect(ctx context.Context) (*client.Client, error) {
	c, err := client.Dial(ctx, client.Options{Addresses: client.Find(r.Environment), Timeout: answerTimeout, Version: r.Version})
	if errors.Is(err, api.ReasonNoDaemon) {
		return nil, notRunning()
	}
	if err != nil {
		return nil, err
	}
	path := client.APIFilePath(r.Environment)
	if _, err := client.LoadAddress(path); path != "" && errors.Is(err, fs.ErrNotExist) {
		// Without the file scripts have no token, and this command works all the
		// same; doctor says that it is missing.
		_, _ = client.Login(ctx, c, path, ownToken)
	}
	return c, nil
}

// keepAddress mends the user's api.json after the daemon's port or key changed.
func (r *run) keepAddress(ctx context.Context, c *client.Client, info api.DaemonInfoResult) {
	path := client.APIFilePath(r.Environment)
	file, err := client.LoadAddress(path)
	switch {
	case path == "" || err != nil:
	case file.Node != info.Node:
		_, _ = client.Login(ctx, c, path, ownToken) // as in connect
	case file.URL != info.APIURL || file.Socket != info.Socket:
		file.URL, file.Socket = info.APIURL, info.Socket
		_ = client.SaveAddress(path, file) // as in connect
	}
}

// asking is calls that are under way together on one connection.
type asking struct {
	ctx    context.Context
	client *client.Client
	group  sync.WaitGroup
	mu     sync.Mutex
	first  error
}

// ask makes one of several calls; its result is there after wait.
func ask[R any](a *asking, method string, params any, into *R) {
	a.try(func() (err error) {
		*into, err = client.Call[R](a.ctx, a.client, method, params)
		return err
	})
}

// try does something beside the other calls.
func (a *asking) try(do func() error) {
	a.group.Go(func() {
		err := do()
		a.mu.Lock()
		defer a.mu.Unlock()
		if err != nil && a.first == nil {
			a.first = err
		}
	})
}

// wait gives the first error of all.
func (a *asking) wait() error {
	a.group.Wait()
	return a.first
}

// with runs something with a connection.
func (r *run) with(ctx context.Context, do func(*client.Client) error) error {
	c, err := r.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

// listed asks for a list and prints it: as JSON, or by show with the nodes that it
// is about.
func listed[R any](ctx context.Context, r *run, c *client.Client, method string, params any, show func(R, []api.NodeView) error) error {
	var list R
	var nodes api.NodeListResult
	all := asking{ctx: ctx, client: c}
	ask(&all, method, params, &list)
	if !r.json {
		ask(&all, "node.list", nil, &nodes)
	}
	if err := all.wait(); err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, list)
	}
	return show(list, nodes.Nodes)
}
