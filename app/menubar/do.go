package menubar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fulmen/app"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// do does what a line says, and says so where it does not work.
func (a *App) do(ctx context.Context, item app.Item) {
	do := item.Do
	if do == nil || do.Confirm != nil && !a.opts.Shell.Confirm(ctx, *do.Confirm) {
		return
	}
	var err error
	switch {
	case do.Call != nil:
		err = a.call(ctx, *do.Call)
	case do.Dialog != nil:
		err = a.dialog(ctx, *do.Dialog)
	case do.Open != "":
		err = a.open(ctx, do.Open)
	case do.Copy != "":
		err = a.opts.Shell.Copy(ctx, do.Copy)
	default:
		err = a.own(ctx, do.App, do.Value)
	}
	if err != nil && ctx.Err() == nil {
		a.opts.Shell.Failed(ctx, strings.TrimSuffix(item.Title, "…"), sentence(err))
	}
	a.follow.Refresh()
	a.redraw.Wake()
}

// sentence is an error for a person: the API's, with what to do, or the system's
// own words.
func sentence(err error) string {
	refused, ok := errors.AsType[*api.Error](err)
	if !ok {
		return err.Error()
	}
	return strings.TrimSpace(refused.Message + " " + refused.Data.Remedy)
}

// changeTimeout bounds a change of cables: both ends wait for their ports, and
// test them.
const changeTimeout = 3 * time.Minute

// pairingTimeout bounds what this Mac does with another one.
const pairingTimeout = 45 * time.Second

// call calls a method of the API. One for administrators asks for the right
// where this connection does not have it.
func (a *App) call(ctx context.Context, c app.Call) error {
	group, _, _ := strings.Cut(c.Method, ".")
	switch {
	case group == "measure" || c.Method == "rdma.probe":
		return a.measure(ctx, c)
	case group == "rdma":
		return a.change(ctx, c)
	case c.Method == "cluster.pair":
		code, err := asAdmin(ctx, a, func(cl *client.Client) (api.ClusterPairResult, error) {
			return client.Call[api.ClusterPairResult](ctx, cl, c.Method, c.Params)
		})
		if err != nil {
			return err
		}
		a.follow.ShowCode(&code)
		if code.Code == "" {
			return nil
		}
		return a.dialog(ctx, app.CodeDialog())
	}
	if group == "cluster" { // two Macs talk to each other first
		within, cancel := context.WithTimeout(ctx, pairingTimeout)
		defer cancel()
		ctx = within
	}
	_, err := asAdmin(ctx, a, func(cl *client.Client) (map[string]any, error) {
		return client.Call[map[string]any](ctx, cl, c.Method, c.Params)
	})
	return err
}

// change changes cables. That some were left as they are is told as a failure.
func (a *App) change(ctx context.Context, c app.Call) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	result, err := asAdmin(ctx, a, func(cl *client.Client) (api.RDMAChangeResult, error) {
		return client.Call[api.RDMAChangeResult](ctx, cl, c.Method, c.Params)
	})
	if err != nil || len(result.Refused) == 0 {
		return err
	}
	first := result.Refused[0]
	refused := api.Errorf(first.Reason, first.Subject, "%s", first.Message)
	if len(result.Refused) > 1 {
		refused.Message = fmt.Sprintf("%d cables were left as they are. %s", len(result.Refused), first.Message)
	}
	return refused.WithRemedy(first.Remedy)
}

// asAdmin calls, and if that is for administrators alone, asks for the right and
// calls once more.
func asAdmin[R any](ctx context.Context, a *App, call func(*client.Client) (R, error)) (R, error) {
	var none R
	cl, err := a.follow.Client()
	if err != nil {
		return none, err
	}
	result, err := call(cl)
	if !errors.Is(err, api.ReasonAdminRequired) {
		return result, err
	}
	proof, err := a.opts.Shell.Authorize(ctx)
	if err != nil {
		return none, err
	}
	if _, err := client.Call[api.Empty](ctx, cl, "daemon.authorize", api.DaemonAuthorizeParams{Authorization: proof}); err != nil {
		return none, err
	}
	return call(cl)
}

// measure begins a measurement and follows it to its end.
func (a *App) measure(ctx context.Context, c app.Call) error {
	cl, err := a.follow.Client()
	if err != nil {
		return err
	}
	var last api.Measurement
	err = client.Measure(ctx, cl, c.Method, c.Params, func(m api.Measurement, _ bool) {
		last = m
		a.follow.Measuring(m)
	})
	if err != nil {
		last.State = api.MeasureFailed
		a.follow.Measuring(last)
		return err
	}
	for _, i := range last.Items {
		if i.Error != nil {
			return i.Error
		}
	}
	return nil
}

// dialog asks the person and does what follows from the answer.
func (a *App) dialog(ctx context.Context, d app.Dialog) error {
	switch d.Kind {
	case app.DialogEnterCode:
		code, given := a.opts.Shell.Ask(ctx, app.CodeQuestion(d))
		if code = strings.TrimSpace(code); !given || code == "" {
			return nil
		}
		account, given := a.opts.Shell.Ask(ctx, app.AccountQuestion(a.opts.Account))
		if !given {
			return nil
		}
		account = strings.TrimSpace(account)
		method, params := "cluster.join", any(api.ClusterJoinParams{Code: code, Account: account})
		if d.Node != "" {
			method, params = "cluster.answer", api.ClusterAnswerParams{Node: api.NodeID(d.Node), Code: code, Account: account}
		}
		return a.call(ctx, app.Call{Method: method, Params: params, Admin: true})
	case app.DialogShowCode:
		code, until := a.follow.Code()
		if code == "" {
			return api.NewError(api.ReasonCodeExpired, "")
		}
		ctx, cancel := context.WithDeadline(ctx, until) // it is put away by itself when it does not count any more
		defer cancel()
		a.opts.Shell.Show(ctx, d.Title, d.Text, code)
	case app.DialogUserAction:
		a.opts.Shell.Show(ctx, d.Title, d.Text+"\n\n"+a.follow.Steps(api.NodeID(d.Node)), "")
	}
	return nil
}

// open opens an address; one of the dashboard's pages with the secret that lets
// this person's browser in.
func (a *App) open(ctx context.Context, address string) error {
	page, isOurs := strings.CutPrefix(address, "dashboard:")
	if !isOurs {
		return a.opts.Shell.Open(ctx, address)
	}
	cl, err := a.follow.Client()
	if err != nil {
		return err
	}
	secret, err := client.Call[api.DaemonBrowserSecretResult](ctx, cl, "daemon.browser_secret", nil)
	if err != nil {
		return err
	}
	if page != "/" {
		secret.URL += "&page=" + page
	}
	return a.opts.Shell.Open(ctx, secret.URL)
}

// own does what the app does by itself, or the system.
func (a *App) own(ctx context.Context, what app.AppDo, value string) error {
	switch what {
	case app.AppQuit:
		a.opts.Quit()
		return nil
	case app.AppTitle:
		return a.prefer(func(p *stored) { p.Title = app.TitleChoice(value) })
	case app.AppNotifications:
		return a.prefer(func(p *stored) { p.Notifications = !p.Notifications })
	case app.AppDiagnostics:
		return a.opts.Shell.Copy(ctx, a.diagnostics(ctx))
	case app.AppMove, app.AppRegister, app.AppOwn, app.AppStart, app.AppLaunchAtLogin, app.AppInstallCLI:
	}
	return a.opts.Shell.Do(ctx, what)
}

// prefer changes the app's settings.
func (a *App) prefer(change func(*stored)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := a.preferences
	change(&next)
	if err := next.save(a.opts.PreferencesFile); err != nil {
		return err
	}
	a.preferences = next
	return nil
}

// diagnostics is what helps to find a fault: a report, which the command line collects
// with a daemon or without one, else what the app itself knows.
func (a *App) diagnostics(ctx context.Context) string {
	report, err := a.opts.Report(ctx)
	if err != nil {
		report = "There is no report: " + err.Error() + "\n\n" + a.follow.Summary()
	}
	return "Fulmen " + a.opts.Version + "\n\n" + report
}
