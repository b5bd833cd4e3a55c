package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// looksForBrowser is how often it is seen whether the browser has come in.
const looksForBrowser = 200 * time.Millisecond

func (r *run) dashboardCommand() *cobra.Command {
	var print bool
	var page string
	c := &cobra.Command{
		Use: "dashboard", Short: "Open the dashboard in the browser", Args: cobra.NoArgs,
		Long: "Opens the cluster as a picture in the browser of this machine. The address holds a secret that works once,\n" +
			"within half a minute; the page turns it into a token that ends with the browser's tab.",
		Example: "  fulmen dashboard\n  fulmen dashboard --page /jobs\n  fulmen dashboard --print",
		RunE: func(c *cobra.Command, _ []string) error {
			if page != "" && !strings.HasPrefix(page, "/") {
				return usage("--page must be a page such as /jobs")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.dashboard(c.Context(), c2, page, print) })
		},
	}
	c.Flags().BoolVar(&print, "print", false, "print the address instead of opening it")
	c.Flags().StringVar(&page, "page", "", "a page of it: /jobs, /conditions, /pairing, /node/ID, /link/ID, /job/ID, /sharing")
	return c
}

func (r *run) dashboard(ctx context.Context, c *client.Client, page string, print bool) error {
	secret, err := client.Call[api.DaemonBrowserSecretResult](ctx, c, "daemon.browser_secret", nil)
	if err != nil {
		return err
	}
	if page != "" {
		secret.URL += "&page=" + (&url.URL{Path: page}).EscapedPath()
	}
	if r.json {
		return text.JSON(r.Out, secret)
	}
	if !print {
		if isIn, err := r.browse(ctx, c, secret.URL); isIn || err != nil {
			return err
		}
		fmt.Fprintln(r.Err, "No browser can be opened here. Open this address within half a minute:")
	}
	_, err = fmt.Fprintln(r.Out, secret.URL)
	return err
}

// browse has the desktop open the dashboard in the person's browser and waits until
// the page is in; false where there is no browser.
func (r *run) browse(ctx context.Context, c *client.Client, address string) (bool, error) {
	before, err := newestToken(ctx, c)
	if err != nil {
		return false, err
	}
	done, err := r.Browse(ctx, address)
	if err != nil {
		return false, nil
	}
	defer done()
	within, stop := context.WithTimeout(ctx, api.BrowserSecretTTL)
	defer stop()
	// No method tells when a link is used. The token that comes of it is seen.
	err = poll(within, looksForBrowser, func() (bool, error) {
		now, err := newestToken(ctx, c)
		return now.After(before.Time), err
	})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case within.Err() != nil:
		return false, errors.New("the browser did not open the dashboard within half a minute; open the address yourself: fulmen dashboard --print")
	case err != nil:
		return false, err
	}
	_, err = fmt.Fprintln(r.Out, "The dashboard is open in the browser.")
	return true, err
}

// newestToken is when the newest token of this account was made.
func newestToken(ctx context.Context, c *client.Client) (newest api.Time, err error) {
	held, err := client.Call[api.DaemonTokensResult](ctx, c, "daemon.tokens", nil)
	for _, t := range held.Tokens {
		if t.CreatedAt.After(newest.Time) {
			newest = t.CreatedAt
		}
	}
	return newest, err
}
