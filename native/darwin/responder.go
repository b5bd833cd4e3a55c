package darwin

// responder is a connection to the system's DNS-SD. Its methods are called one at
// a time; what it tells comes in process, and is kept until process has returned.
type responder interface {
	// register, browse, resolve and addresses begin an operation, whose events
	// carry the token, until end. An index of 0 is every interface.
	register(token int64, index int, instance, serviceType string, port int, txt []byte) error
	browse(token int64, index int, serviceType string) error
	resolve(token int64, index int, instance, serviceType, domain string) error
	addresses(token int64, index int, host string) error
	end(token int64)
	// wait returns nil when process has something to do, and an error once the
	// connection is closed. It alone may run beside the others.
	wait() error
	process() ([]found, error)
	close() error
}

// What is found, as dnssd.h numbers it.
const (
	foundRegistered = iota
	foundInstance
	foundResolved
	foundAddress
)

// found is one event of an operation.
type found struct {
	token  int64
	kind   int
	added  bool // else removed
	index  int
	failed int // the responder's error, 0 for none
	// text is an instance's name, or a host's; domain an instance's.
	text, domain string
	port         int
	data         []byte // a TXT record, or an address
}
