#!/bin/sh
# Says as whom and in what surroundings it runs.
echo "uid=$(id -u) gid=$(id -g) dir=$(pwd)"
echo "rank=$MLX_RANK job=$FULMEN_JOB fulmen_rank=$FULMEN_RANK world=$FULMEN_WORLD_SIZE"
echo "hostfile=$(cat "$MLX_HOSTFILE")"
echo "word=$E2E_WORD"
