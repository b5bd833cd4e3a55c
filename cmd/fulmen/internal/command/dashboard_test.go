package command

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestDashboard(t *testing.T) {
	const address = "http://127.0.0.1:7731/#secret=s3cret"
	for name, c := range map[string]struct {
		args             []string
		noBrowser        bool
		opened, out, err string
		status           int
	}{
		"opened":     {args: []string{"dashboard"}, opened: address, out: "The dashboard is open in the browser.\n"},
		"a page":     {args: []string{"dashboard", "--page", "/job/j4k2m9xq7"}, opened: address + "&page=/job/j4k2m9xq7", out: "The dashboard is open in the browser.\n"},
		"printed":    {args: []string{"dashboard", "--print"}, out: address + "\n"},
		"no browser": {args: []string{"dashboard"}, noBrowser: true, opened: address, out: address + "\n", err: "No browser can be opened here. Open this address within half a minute:\n"},
		"no page":    {args: []string{"dashboard", "--page", "jobs"}, err: "fulmen: --page must be a page such as /jobs\n  See: fulmen help\n", status: api.ExitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.daemon.Always("daemon.browser_secret", api.DaemonBrowserSecretResult{URL: address})
			opened := ""
			isKept := false
			r.daemon.Always("daemon.tokens", api.DaemonTokensResult{Tokens: []api.TokenInfo{{Name: "own", CreatedAt: before(time.Hour)}}})
			r.app.Browse = func(_ context.Context, address string) (func(), error) {
				opened = address
				if c.noBrowser {
					return nil, errors.New("no browser")
				}
				isKept = true
				r.daemon.Always("daemon.tokens", api.DaemonTokensResult{Tokens: []api.TokenInfo{{Name: "own", CreatedAt: before(time.Hour)}, {Name: "dashboard", CreatedAt: before(0)}}})
				return func() { isKept = false }, nil
			}
			is.Equal(r.run(c.args...), c.status)
			is.True(!isKept)
			is.Equal(opened, c.opened)
			is.Equal(r.out.String(), c.out)
			is.Equal(r.err.String(), c.err)
		})
	}
}
