#!/usr/bin/env bash
# Measures on the GPU of this machine: rates.json, times.json, registers.json and traffic.csv, in the folder that is named.
#   tests/measure/run.sh FOLDER times                  rates and times
#   tests/measure/run.sh FOLDER fresh                  times at the sizes that the model has not seen
#   tests/measure/run.sh FOLDER wide                   times at the widths of current language models
#   tests/measure/run.sh FOLDER fused                  times of the patterns as single kernels, generated ones too
#   tests/measure/run.sh FOLDER traffic TIMES.json     DRAM bytes of every kernel, by Nsight Compute with flushed caches
#   tests/measure/run.sh FOLDER registers              registers of the compiler's kernels
#   tests/measure/run.sh FOLDER launches               kernels of the programs of tests/model/programs, eager and compiled
set -euo pipefail
folder=$1
here=$(dirname "$0")
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
case $2 in
times)
    python3 "$here/gpu.py" rates "$folder/rates.json"
    python3 "$here/gpu.py" times "$folder/times.json" "${SECONDS_FOR_TIMES:-420}"
    ;;
fresh)
    python3 "$here/gpu.py" times "$folder/fresh.json" "${SECONDS_FOR_TIMES:-420}" fresh
    ;;
wide)
    python3 "$here/gpu.py" times "$folder/wide.json" "${SECONDS_FOR_TIMES:-420}" wide
    ;;
fused)
    python3 "$here/gpu.py" times "$folder/fused.json" "${SECONDS_FOR_TIMES:-420}" fused
    ;;
launches)
    python3 "$here/launches.py" "$folder/launches.json"
    ;;
registers)
    python3 "$here/registers.py" "$folder/registers.json"
    ;;
traffic)
    ncu --profile-from-start off --clock-control none --cache-control all --csv --page raw \
        --metrics dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum \
        --log-file "$folder/traffic.csv" python3 "$here/gpu.py" traffic "$3"
    ;;
esac
