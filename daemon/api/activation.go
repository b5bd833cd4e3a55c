package api

// Sockets that launchd or systemd hold for the daemon, so that a client's connection
// starts it. Property list, units and daemon agree on these names.
const (
	// ActivationTCP is the name of the API's TCP socket, on APIPort.
	ActivationTCP = "api"
	// ActivationUnix is the name of the Unix socket.
	ActivationUnix = "unix"
	// LaunchdSocket is where launchd makes the Unix socket: beside RuntimeFolder, which is gone after
	// each start of the Mac and which launchd does not make. The daemon links SocketFile in
	// RuntimeFolder to it.
	LaunchdSocket = "/var/run/fulmen.sock"
)
