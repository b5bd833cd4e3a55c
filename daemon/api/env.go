package api

// Names of environment variables.
const (
	// EnvHome puts all of a daemon's folders under one.
	EnvHome = "FULMEN_HOME"
	// EnvJob is the job's id, in every rank.
	EnvJob = "FULMEN_JOB"
	// EnvRank is the rank's number, in every rank.
	EnvRank = "FULMEN_RANK"
	// EnvWorldSize is the number of ranks, in every rank.
	EnvWorldSize = "FULMEN_WORLD_SIZE"
	// EnvShare is the rank's part of the whole, as a decimal fraction, where the job has shares.
	EnvShare = "FULMEN_SHARE"
	// EnvSharesFile is the path of the shares of all ranks, by rank: a list in JSON.
	EnvSharesFile = "FULMEN_SHARES_FILE"
	// EnvModel is the folder of the job's model on the rank's node, where the job has one.
	EnvModel = "FULMEN_MODEL"
	// EnvModelRevision is its revision, where the folder has one.
	EnvModelRevision = "FULMEN_MODEL_REVISION"
	// EnvHeartbeat is a file that the program touches whenever it gets on, of a job that says how often that is.
	EnvHeartbeat = "FULMEN_HEARTBEAT"
	// EnvSharding is how the job's program is to divide the model.
	EnvSharding = "FULMEN_SHARDING"
	// EnvMLXRank is MLX's rank, for every backend.
	EnvMLXRank = "MLX_RANK"
	// EnvMLXHostfile is the path of the ring's host file.
	EnvMLXHostfile = "MLX_HOSTFILE"
	// EnvMLXDevices is the path of JACCL's device matrix.
	EnvMLXDevices = "MLX_IBV_DEVICES"
	// EnvMLXCoordinator is the address at which a rank finds JACCL's side channel.
	EnvMLXCoordinator = "MLX_JACCL_COORDINATOR"
	// EnvMLXRing makes JACCL a ring; any value means yes, so it is set only where one is meant.
	EnvMLXRing = "MLX_JACCL_RING"
	// EnvJACCLPrefix begins the variables that would win over MLX's own; all are cleared.
	EnvJACCLPrefix = "JACCL_"
)
