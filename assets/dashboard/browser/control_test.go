package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// control does for the tests in the browser what is outside of it.
type control struct {
	stage       *testcluster.Stage
	testcluster *testcluster.Cluster
	members     int // of the nodes those that were there first
}

// request is what a test wants.
type request struct {
	// At is the Mac's name in the scenario.
	At string `json:"at"`
	// Args are the command line's, and Input is what it reads.
	Args  []string `json:"args"`
	Input string   `json:"input"`
	// Method and Params are a call over the Unix socket, as an administrator.
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// ran is what came of a command.
type ran struct {
	Status int    `json:"status"`
	Out    string `json:"out"`
	Err    string `json:"err"`
}

// seat is a Mac of the cluster.
type seat struct {
	Mac string     `json:"mac"`
	ID  api.NodeID `json:"id"`
}

// serve starts the server, which ends with the test.
func (c *control) serve(t *testing.T) string {
	mux := http.NewServeMux()
	answer := func(path string, do func(context.Context, request) (any, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var reported request
			err := json.NewDecoder(r.Body).Decode(&reported)
			var result any
			if err == nil {
				result, err = do(r.Context(), reported)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(w).Encode(result) // the test may be gone
		})
	}
	answer("/seats", func(context.Context, request) (any, error) {
		var seats []seat
		for _, n := range c.testcluster.Nodes[:c.members] {
			seats = append(seats, seat{n.Mac, n.ID})
		}
		return seats, nil
	})
	answer("/fulmen", func(ctx context.Context, reported request) (any, error) { return c.fulmen(ctx, reported) })
	answer("/call", func(ctx context.Context, reported request) (any, error) {
		cl, err := c.client(reported.At)
		if err != nil {
			return nil, err
		}
		return client.Call[json.RawMessage](ctx, cl, reported.Method, reported.Params)
	})
	answer("/end", func(_ context.Context, reported request) (any, error) {
		n, err := c.node(reported.At)
		if err == nil {
			n.End(syscall.SIGKILL)
		}
		return reported.At, err
	})
	answer("/boot", func(ctx context.Context, reported request) (any, error) {
		n, err := c.node(reported.At)
		if err != nil {
			return nil, err
		}
		return seat{n.Mac, n.ID}, n.Boot(context.WithoutCancel(ctx))
	})
	answer("/guest", func(ctx context.Context, reported request) (any, error) {
		n, err := c.node(reported.At)
		if err != nil {
			n, err = c.testcluster.Add(context.WithoutCancel(ctx), reported.At)
		}
		return seat{n.Mac, n.ID}, err
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func (c *control) node(mac string) (*testcluster.Node, error) {
	for _, n := range c.testcluster.Nodes {
		if n.Mac == mac {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no %s", mac)
}

func (c *control) client(mac string) (*client.Client, error) {
	n, err := c.node(mac)
	if err != nil {
		return nil, err
	}
	if n.Client == nil {
		return nil, errors.New(mac + " does not run")
	}
	return n.Client, nil
}

// fulmen runs the command line at a Mac.
func (c *control) fulmen(ctx context.Context, reported request) (ran, error) {
	n, err := c.node(reported.At)
	if err != nil {
		return ran{}, err
	}
	var out, errs bytes.Buffer
	cmd := n.Command(ctx, c.stage.Fulmen, reported.Args...)
	cmd.Dir = c.stage.Work
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(reported.Input), &out, &errs
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return ran{}, err
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, nil
}
