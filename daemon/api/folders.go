package api

// Folders and files. As root ("system mode") each kind has a folder of its own;
// otherwise ("user mode") they follow XDG, or ~/Library on macOS; EnvHome puts
// all under one.
const (
	// MacStateFolder holds state and configuration on macOS in system mode.
	MacStateFolder = "/Library/Application Support/Fulmen"
	// MacLogFolder holds logs on macOS in system mode.
	MacLogFolder = "/Library/Logs/Fulmen"
	// LinuxConfigFolder holds configuration on Linux in system mode.
	LinuxConfigFolder = "/etc/fulmen"
	// LinuxStateFolder holds state on Linux in system mode.
	LinuxStateFolder = "/var/lib/fulmen"
	// LinuxLogFolder holds logs on Linux in system mode.
	LinuxLogFolder = "/var/log/fulmen"
	// RuntimeFolder holds the socket in system mode. Paths in it stay short: macOS ends them at 104 bytes.
	RuntimeFolder = "/var/run/fulmen"

	// SocketFile is the Unix socket of the API, mode 0666; the kernel says who calls.
	SocketFile = "fulmen.sock"
	// KeyFile is the node's private key with the hardware it was made on, mode 0600.
	KeyFile = "identity.key"
	// ConfigFile is the configuration.
	ConfigFile = "config.toml"
	// StateFile is the database of jobs, measurements and the roster.
	StateFile = "state.db"
	// UndoFile is the plain record of what Fulmen changed for RDMA; it outlives everything.
	UndoFile = "rdma-undo.json"
	// APIFile is a user's own address and token of the API, mode 0600.
	APIFile = "api.json"
	// JobsFolder holds a folder for every job, in it one for every attempt, in it one for every rank.
	JobsFolder = "jobs"
	// PrepareFile is what the command printed that prepares a rank's node.
	PrepareFile = "prepare.log"
	// OutFilePrefix and a number name the files of a rank's standard output.
	OutFilePrefix = "out."
	// ErrFilePrefix and a number name the files of a rank's standard error.
	ErrFilePrefix = "err."
)

// APIAddress is the content of APIFile.
type APIAddress struct {
	// URL is the WebSocket's address.
	URL string `json:"url"`
	// Socket is the Unix socket's path.
	Socket string `json:"socket"`
	// Token is the user's own.
	Token string `json:"token"`
	// Node is the daemon's node.
	Node NodeID `json:"node"`
}
