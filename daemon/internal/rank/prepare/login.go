package prepare

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare/look"
)

// againAfter is how long a login shell that failed is left alone. What made it
// fail may be elsewhere than in the files that are watched.
const againAfter = time.Minute

// login is what an account's login shell makes of the environment. It is read
// once and again when the shell's files have changed.
type login struct {
	done  chan struct{} // closed when the rest is there
	env   []string
	stamp string        // of the shell's files; empty where the shell was not run
	note  string        // why it is not the shell's
	at    time.Duration // Clock.Boot when it was read
}

// login gives the account's environment. stale is the stamp of one that is not to
// be used any more; empty for none. The shell runs on when ctx ends first, so
// that the next one need not wait as long.
func (p *Preparer) login(ctx context.Context, a Account, stale string) (*login, error) {
	p.mu.Lock()
	l := p.logins[a.Name]
	if l != nil && p.old(l, a, stale) {
		l = nil
	}
	if l == nil {
		l = &login{done: make(chan struct{})}
		p.logins[a.Name] = l
		go p.readLogin(l, a)
	}
	p.mu.Unlock()
	select {
	case <-l.done:
		return l, nil
	case <-ctx.Done():
		return nil, api.Errorf(api.ReasonDeadline, a.Name, "the login shell of %s, %s, was not done in time", a.Name, a.Shell).
			WithWait("the login shell of " + a.Name).WithRemedy("Try again: it goes on and is asked only once. Look into its start-up files if it stays slow.")
	}
}

// Environment is what an account's login shell makes of the environment, as NAME=VALUE;
// nothing where that does not come in time.
func (p *Preparer) Environment(ctx context.Context, a Account) []string {
	l, err := p.login(ctx, a, "")
	if err != nil {
		return nil
	}
	return l.env
}

// old reports whether an environment is not to be used any more.
func (p *Preparer) old(l *login, a Account, stale string) bool {
	select {
	case <-l.done:
	default:
		return false
	}
	failed := l.note != "" && p.config.Clock.Boot()-l.at > againAfter
	return failed || stale != "" && l.stamp == stale || !slices.Contains(l.env, "SHELL="+a.Shell)
}

func (p *Preparer) readLogin(l *login, a Account) {
	defer close(l.done)
	env := variables(baseEnvironment(a))
	defer func() {
		own := baseEnvironment(a)
		for name, value := range variables(own) {
			if env[name] == "" || name != "PATH" && name != "LANG" {
				env[name] = value
			}
		}
		l.env, l.at = listed(env), p.config.Clock.Boot()
	}()
	if base := filepath.Base(a.Shell); base == "nologin" || base == "false" {
		l.note = a.Name + " has no login shell, so the system's usual PATH is used"
		return
	}
	answer, err := p.runner.Ask(context.Background(), a, look.Request{
		Op: look.OpEnvironment, DeadlineS: look.ShellTime.Seconds(),
		Env: append(baseEnvironment(a), "TERM=dumb"),
	}, nil)
	if err != nil {
		l.note = "the login shell could not be used, so the system's usual PATH is used"
		p.config.Log.Warn("a login shell could not be used", "account", a.Name, "shell", a.Shell, "err", err)
		return
	}
	env, l.stamp = variables(answer.Env), answer.Stamp
}

// baseEnvironment is what a login begins with.
func baseEnvironment(a Account) []string {
	path, lang := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "C.UTF-8"
	if runtime.GOOS == "darwin" {
		path, lang = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "en_US.UTF-8"
	}
	return []string{"HOME=" + a.Home, "LANG=" + lang, "LOGNAME=" + a.Name, "PATH=" + path, "SHELL=" + a.Shell, "USER=" + a.Name}
}
