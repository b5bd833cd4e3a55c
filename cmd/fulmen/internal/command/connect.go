package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
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

// ask makes one of several calls that are under way together on one connection; its
// result is there after Wait.
func ask[R any](ctx context.Context, c *client.Client, all *errgroup.Group, method string, params any, into *R) {
	all.Go(func() (err error) {
		*into, err = client.Call[R](ctx, c, method, params)
		return err
	})
}

// with runs something with a connection.
func (r *run) with(ctx context.Context, do func(*client.Client) error) error {
	c, err := r.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

// asks is what a command does that needs the daemon.
func (r *run) asks(do func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return r.with(c.Context(), func(c2 *client.Client) error { return do(c.Context(), c2, args) })
	}
}

// nodeViews are the nodes of the cluster.
func nodeViews(ctx context.Context, c *client.Client) ([]api.NodeView, error) {
	list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	return list.Nodes, err
}

// answered asks for something and prints it: as JSON, or in words.
func answered[R any](ctx context.Context, r *run, c *client.Client, method string, params any, words func(*show.Page, R)) error {
	result, err := client.Call[R](ctx, c, method, params)
	if err != nil {
		return err
	}
	return r.answer(result, func(w *show.Page) { words(w, result) })
}

// listed does so with words that name nodes.
func listed[R any](ctx context.Context, r *run, c *client.Client, method string, params any, words func(*show.Page, R, []api.NodeView)) error {
	var list R
	var nodes api.NodeListResult
	var all errgroup.Group
	ask(ctx, c, &all, method, params, &list)
	if !r.json {
		ask(ctx, c, &all, "node.list", nil, &nodes)
	}
	if err := all.Wait(); err != nil {
		return err
	}
	return r.answer(list, func(w *show.Page) { words(w, list, nodes.Nodes) })
}

// done has something done and says so; as JSON an empty object.
func (r *run) done(ctx context.Context, c *client.Client, method string, params any, words string) error {
	return answered(ctx, r, c, method, params, func(w *show.Page, _ api.Empty) { w.Line(words) })
}

// answer prints a result: as JSON, or in words.
func (r *run) answer(result any, words func(*show.Page)) error {
	if r.json {
		return text.JSON(r.Out, result)
	}
	return r.print(r.Out, words)
}

// print writes words for people.
func (r *run) print(to io.Writer, words func(*show.Page)) error {
	page := show.Page{Screen: r.screen(to)}
	words(&page)
	_, err := io.WriteString(to, page.String())
	return err
}
