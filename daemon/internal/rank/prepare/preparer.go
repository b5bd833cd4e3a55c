package prepare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/asuser"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

// Account is a local account that ranks run as.
type Account = account.Account

// Config is what a [Preparer] needs.
type Config struct {
	// Shim is the path of fulmen-shim, which every account can execute.
	Shim string
	// Check refuses a program that may not be started; nil = none is refused.
	Check func(program string) error
	// Worker is the path of fulmen-rank, the program of built-in jobs; its first
	// argument is the job's [api.Builtin].
	Worker string
	// State is the node's state folder; what was prepared is remembered below it.
	State string
	// OwnUID is the daemon's uid.
	OwnUID uint32
	// Clock counts sleep.
	Clock native.Clock
	// Log gets what people may have to know.
	Log *slog.Logger
}

// Preparer finds and prepares programs on this node. It may be used by many at once.
type Preparer struct {
	config Config
	runner asuser.Runner
	book   account.Book

	mu      sync.Mutex
	logins  map[string]*login               // by the account's name
	pythons map[uint32][]look.Python        // by uid, the latest last
	places  map[preparedPlace]chan struct{} // held while the node is prepared there
	lately  lately
}

// New makes a Preparer. It starts nothing.
func New(c Config) *Preparer {
	return &Preparer{
		config: c,
		runner: asuser.Runner{Shim: c.Shim, Check: c.Check, OwnUID: c.OwnUID, Clock: c.Clock},
		logins: map[string]*login{}, pythons: map[uint32][]look.Python{},
		places: map[preparedPlace]chan struct{}{}, lately: lately{},
	}
}

// Account finds a local account by its name. Root, by whatever name, is refused
// (account_forbidden), and so is one that is not there (principal_unmapped) or
// that this daemon cannot become (account_forbidden).
func (p *Preparer) Account(name string) (Account, error) {
	a, err := p.book.Find(name)
	if err != nil {
		return Account{}, err
	}
	if _, err := a.Credential(p.config.OwnUID); err != nil {
		return Account{}, err
	}
	return a, nil
}

// preparedFolder is below the node's state folder.
const preparedFolder = "prepared"

// preparedPlace is what a preparation is remembered for; with no command it is
// what is held while any command works there.
type preparedPlace struct {
	uid             uint32
	directory       string
	command, python string
}

func placeOf(a Account, program api.Program, directory string) preparedPlace {
	command := fmt.Sprintf("%q", program.Prepare)
	return preparedPlace{a.UID, directory, command, program.Environment + "\x00" + program.Interpreter}
}

// file is where it is remembered on the disk.
func (w preparedPlace) file(state string) string {
	name := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s", w.uid, w.directory, w.command, w.python))
	return filepath.Join(state, preparedFolder, hex.EncodeToString(name[:16]))
}

// stateOf covers what a preparation depends on: the command and the contents of
// its inputs, which is the digest, and the versions that are there.
func stateOf(digest string, versions map[string]string) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n", digest)
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		fmt.Fprintf(hash, "%s %s\n", name, versions[name])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// isPrepared reports whether the command has succeeded in the state that the
// node is in; also where there is no command.
func (p *Preparer) isPrepared(a Account, program api.Program, answer look.Answer) bool {
	if len(program.Prepare) == 0 {
		return true
	}
	where := placeOf(a, NewPlace(program.Home, a.Home).Program(program), answer.Directory)
	return p.recall(where) == stateOf(answer.Digest, answer.Versions)
}

// recall is the state in which the command last succeeded; "" for none.
func (p *Preparer) recall(where preparedPlace) string {
	text, _ := os.ReadFile(where.file(p.config.State)) // what cannot be read is not known
	return strings.TrimSpace(string(text))
}

// remember keeps the state in which the command succeeded.
func (p *Preparer) remember(where preparedPlace, state string) error {
	if err := os.MkdirAll(filepath.Join(p.config.State, preparedFolder), 0o700); err != nil {
		return err
	}
	return home.WriteFile(where.file(p.config.State), []byte(state+"\n"), 0o600)
}

// hold waits until nobody else prepares the directory as the account.
func (p *Preparer) hold(ctx context.Context, where preparedPlace) (release func(), err error) {
	where.command, where.python = "", ""
	p.mu.Lock()
	turn := p.places[where]
	if turn == nil {
		turn = make(chan struct{}, 1)
		p.places[where] = turn
	}
	p.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, api.Errorf(api.ReasonDeadline, where.directory, "the folder %s is being prepared for another job", where.directory).
			WithWait("another job's preparation of " + where.directory)
	}
}
