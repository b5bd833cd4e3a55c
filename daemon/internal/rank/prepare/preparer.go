package prepare

import (
	"log/slog"
	"sync"

	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/asuser"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

// Account is a local account that ranks run as.
type Account = account.Account

// Config is what a [Preparer] needs.
type Config struct {
	// Self is a path by which every account can execute fulmend; /proc/self/exe is
	// one.
	Self string
	// Worker is the path of fulmen-rank, the program of built-in jobs; its first
	// argument is the job's [api.Builtin].
	Worker string
	// State is the node's state folder; what was prepared is remembered below it.
	// Empty = it is remembered until the daemon ends.
	State string
	// OwnUID is the daemon's uid.
	OwnUID uint32
	// Clock counts sleep.
	Clock native.Clock
	// Log gets what people may have to know; nil = nowhere.
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
	done    map[preparedPlace]string        // what was prepared
	lately  lately
}

// New makes a Preparer. It starts nothing; Close ends what it keeps.
func New(c Config) *Preparer {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Preparer{
		config: c,
		runner: asuser.Runner{Self: c.Self, OwnUID: c.OwnUID, Clock: c.Clock, Stay: &asuser.Stay{}},
		logins: map[string]*login{}, pythons: map[uint32][]look.Python{},
		places: map[preparedPlace]chan struct{}{}, done: map[preparedPlace]string{}, lately: lately{},
	}
}

// Close ends the processes that wait for another look.
func (p *Preparer) Close() error {
	p.runner.Stay.Close(p.config.Clock)
	return nil
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
