package probe

// Amount is how much is measured.
type Amount string

const (
	// AmountFull is round trips, and each way about 1 s of transfer after the
	// connections have come to speed, with as many as fill the path.
	AmountFull Amount = "full"
	// AmountRefresh is round trips, and each way 32 MiB or 50 ms of transfer,
	// whichever ends first, with as many connections as an earlier measurement found.
	AmountRefresh Amount = "refresh"
	// AmountRTT is round trips only.
	AmountRTT Amount = "rtt"
)
