/* The protocol of slots and attempts, for spin. What it models, and what it leaves out, is in README.md.
 *
 * Names in brackets are the code's. One statement is one step that a death can follow; what the code does by one compare-and-swap, or in one
 * transaction of the journal, is one atomic step here.
 *
 * MUTATION leaves out one rule (see README.md); each must be found out.
 */
#ifndef PARTS
#define PARTS 2
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef SYNTHS
#define SYNTHS 2
#endif
#ifndef FAULTS
#define FAULTS 1      /* deaths, suspicions, coordinator crashes, workers that give up: together */
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef MUTATION
#define MUTATION 0
#endif
#define M_NO_FENCE 1        /* a suspect's slot is taken back when it was killed, not when it is dead */
#define M_NO_WIPE 2         /* a slot is free again after its result, without a wipe */
#define M_NO_ENDED_CHECK 3  /* a result is committed without asking whether the partition has ended */
#define M_NO_WIPER_DEATH 4  /* the death of a wiper is not looked for */
#define M_QUARANTINE_LOST 5 /* a restarted coordinator takes quarantine for nobody's */
#define M_HALF_SEALED 6     /* a slot is sealed before its last byte */
#define M_NO_JOURNAL 7      /* a grant is given before its attempt is in the journal */
#define M_LEASE_LOST 8      /* the slot of a dead owner is left as it is */
#define M_COMMIT_LATE 9     /* a partition is taken for done, and its slot wiped, before the journal has the result */
#define M_NO_EPOCH 10       /* M_NO_FENCE, and workers compare state and owner only */
#define MAX_FAILURES 2      /* the code's is 3; a failure costs a fault here */

mtype = { FREE, GRANT, READY, LEASE, RESULT, FAILED, QUARANTINE, WIPE };

/* ---- shared memory: outlives every process ---- [shm/slot.h] */
mtype state[SLOTS] = FREE;
byte owner[SLOTS];            /* instance; 0: nobody */
byte epoch[SLOTS];
byte part[SLOTS];             /* header: written by the coordinator in FREE */
byte attempt[SLOTS];
bool by_gpu[SLOTS];           /* in FAILED: whose failure; the code knows it from what the slot was used for */
byte low[SLOTS], high[SLOTS]; /* payload in two halves: partition + 1, or 0 = wiped */
byte result[SLOTS];

/* ---- the journal ---- [coordinator/job_store.h] */
byte j_attempt[PARTS];
byte j_failures[PARTS];
bool j_ended[PARTS], j_stopped[PARTS];
byte ends[PARTS];             /* how often the partition ended: never more than once */

/* ---- processes ---- */
#define INSTANCES 10
bool killed[INSTANCES];       /* SIGKILL is sent; it may still take steps */
bool dead[INSTANCES];         /* its pidfd fired */
byte next_instance = 1;       /* in the slot table [SlotTable::NextInstance] */
byte synth[SYNTHS];           /* who is up; 0: not yet */
byte gpu;
byte faults = FAULTS;
byte cancels = CANCELS;

/* ---- the coordinator's memory ---- [coordinator/scheduler.h, SlotInfo] */
bool work[SLOTS];             /* the slot holds its partition's present attempt */
bool dirty[SLOTS];            /* must be wiped */
bool from_lease[SLOTS];       /* in quarantine: was leased */
bool new_attempt[SLOTS];      /* Partition::new_attempt_for_lease */

#if MUTATION == M_NO_EPOCH
#define is(s, st, o, e) (state[s] == st && owner[s] == o)
#else
#define is(s, st, o, e) (state[s] == st && owner[s] == o && epoch[s] == e)
#endif

/* CHOOSE(c): blocks until some slot satisfies the macro c, and puts one such into s. */
#if SLOTS == 1
#define CHOOSE(c) c(0) -> s = 0
#define any_slot(c) (c(0))
#define in_use(x) (owner[0] == x)
#else
#define CHOOSE(c) c(0) || c(1); if :: c(0) -> s = 0 :: c(1) -> s = 1 fi
#define any_slot(c) (c(0) || c(1))
#define in_use(x) (owner[0] == x || owner[1] == x)
#endif
#if PARTS == 1
#define CHOOSE_PART(c) c(0) -> q = 0
#define any_part(c) (c(0))
#else
#define CHOOSE_PART(c) c(0) || c(1); if :: c(0) -> q = 0 :: c(1) -> q = 1 fi
#define any_part(c) (c(0) || c(1))
#endif

inline born(x) { x = next_instance; next_instance++ }
inline seal(st, to) { if :: is(s, st, me, e) -> state[s] = to; owner[s] = 0 :: else fi }

/* [synth_worker/synth_runner.cc, RunGrant and RunWipe] */
#define granted(i) (state[i] == GRANT && owner[i] == me)
#define to_wipe(i) (state[i] == WIPE && owner[i] == me)
proctype Synth(byte k) {
  byte me, s, e, p;
life:
  atomic { born(me); synth[k] = me; s = 0; e = 0; p = 0 }
  {
    do
    :: atomic { CHOOSE(granted); e = epoch[s]; p = part[s] }
       low[s] = p + 1;
#if MUTATION == M_HALF_SEALED
       atomic { seal(GRANT, READY) }
       high[s] = p + 1;
#else
       high[s] = p + 1;
       if
       :: atomic { seal(GRANT, READY) }
       :: atomic { faults > 0 -> faults--; low[s] = 0 }   /* gives up, and wipes what it wrote */
          high[s] = 0;
          atomic { if :: is(s, GRANT, me, e) -> by_gpu[s] = false :: else fi; seal(GRANT, FAILED) }
       fi;
#endif
       atomic { s = 0; e = 0; p = 0 }
    :: atomic { CHOOSE(to_wipe); e = epoch[s] }
       low[s] = 0;
       high[s] = 0;
       result[s] = 0;
       atomic { seal(WIPE, FREE); s = 0; e = 0 }
    od
  } unless { dead[me] };
  goto life
}

/* [gpu_worker/gpu_runner.cc, RunLease] */
#define leased(i) (state[i] == LEASE && owner[i] == me)
proctype Gpu() {
  byte me, s, e, p, x, y;
life:
  atomic { born(me); gpu = me; s = 0; e = 0; p = 0; x = 0; y = 0 }
  {
    do
    :: atomic { CHOOSE(leased); e = epoch[s]; p = part[s]; x = low[s] }
       y = high[s];
       if
       :: result[s] = x;
          atomic {
            if
            :: is(s, LEASE, me, e) ->
               assert(x == y);         /* nothing torn */
               assert(x == p + 1)      /* nothing of another partition, nothing wiped */
            :: else
            fi;
            seal(LEASE, RESULT)
          }
       :: atomic { faults > 0 -> faults--; if :: is(s, LEASE, me, e) -> by_gpu[s] = true :: else fi; seal(LEASE, FAILED) }
       fi;
       atomic { s = 0; e = 0; p = 0; x = 0; y = 0 }
    od
  } unless { dead[me] };
  goto life
}

/* A partition's end is one row of the journal [Scheduler::EndPartition]. */
inline end_part(q) { j_ended[q] = true; ends[q]++; assert(ends[q] == 1) }
inline forget(s) { work[s] = false; dirty[s] = true; new_attempt[s] = false }

/* Slot s holds work whose attempt failed: does the partition go on? Into `again` [Scheduler::CountFailure, EndStopped]. */
inline count_failure(s) {
  j_failures[part[s]]++;
  if
  :: j_stopped[part[s]] || j_failures[part[s]] >= MAX_FAILURES -> end_part(part[s]); again = false
  :: else -> again = true
  fi
}

/* A lease that came to nothing: the sealed payload is whole [Scheduler::ReleaseLeased]. */
inline give_back(s) {
  if
  :: work[s] ->
     count_failure(s);
     if :: again -> state[s] = READY; owner[s] = 0; epoch[s]++; new_attempt[s] = true :: else -> forget(s) fi
  :: else -> forget(s)
  fi
}

/* The owner of slot s is dead, and the word still names it [WorkDoor::Died, Scheduler::WorkerDead]. */
inline take_back(s) {
  if
  :: state[s] == LEASE || (state[s] == QUARANTINE && from_lease[s]) -> give_back(s)
  :: else -> if :: work[s] -> count_failure(s) :: else fi; forget(s)
  fi
}

/* Guards of the coordinator's steps. */
#if MUTATION == M_NO_FENCE || MUTATION == M_NO_EPOCH
#define orphan(i) (owner[i] != 0 && !dirty[i] && (dead[owner[i]] || (state[i] == QUARANTINE && killed[owner[i]])))
#elif MUTATION == M_NO_WIPER_DEATH
#define orphan(i) (owner[i] != 0 && !dirty[i] && dead[owner[i]] && state[i] != WIPE)
#elif MUTATION == M_LEASE_LOST
#define orphan(i) (owner[i] != 0 && !dirty[i] && dead[owner[i]] && state[i] != LEASE)
#else
#define orphan(i) (owner[i] != 0 && !dirty[i] && dead[owner[i]])
#endif
#define suspect(i) (owner[i] != 0 && !dirty[i] && state[i] != QUARANTINE && !dead[owner[i]])
#define proved(i) (state[i] == RESULT && !dirty[i])
#define gave_up(i) (state[i] == FAILED && !dirty[i])
#define unwanted(i) (state[i] == READY && !dirty[i] && !work[i])
#define sealed(i) (state[i] == READY && !dirty[i] && work[i] && !j_stopped[part[i]])
#define is_dirty(i) (dirty[i])
#define is_free(i) (state[i] == FREE)
/* [Scheduler::PickWorker] */
#define idle(x) (x != 0 && !dead[x] && !killed[x] && !in_use(x))
#if SYNTHS == 1
#define synth_idle (idle(synth[0]))
#define CHOOSE_SYNTH w = synth[0]
#else
#define synth_idle (idle(synth[0]) || idle(synth[1]))
#define CHOOSE_SYNTH if :: idle(synth[0]) -> w = synth[0] :: idle(synth[1]) -> w = synth[1] fi
#endif
#if SLOTS == 1
#define not_held(q) (!(work[0] && part[0] == q))
#define not_busy(q) (!(work[0] && part[0] == q && state[0] != READY))
#else
#define not_held(q) (!(work[0] && part[0] == q) && !(work[1] && part[1] == q))
#define not_busy(q) (!(work[0] && part[0] == q && state[0] != READY) && !(work[1] && part[1] == q && state[1] != READY))
#endif
#define waits(q) (!j_ended[q] && !j_stopped[q] && not_held(q))
#define to_stop(q) (!j_ended[q] && j_stopped[q] && not_busy(q))
#define live(q) (!j_ended[q] && !j_stopped[q])
/* A death between two steps. */
#define MAY_DIE if :: skip :: atomic { faults > 0 -> faults--; goto life } fi

/* [coordinator/startup.cc, RestoreOne]: from the words and the journal alone. */
#define current(s) (!j_ended[part[s]] && attempt[s] == j_attempt[part[s]])
inline restore(s) {
  work[s] = false; dirty[s] = false; new_attempt[s] = false; from_lease[s] = false;
  if
  :: state[s] == FREE
  :: state[s] == RESULT -> work[s] = current(s)
  :: state[s] == READY -> work[s] = current(s); dirty[s] = !work[s]
  :: state[s] == FAILED -> dirty[s] = true
  :: state[s] == WIPE -> if :: dead[owner[s]] -> dirty[s] = true :: else fi
  :: state[s] == GRANT -> if :: dead[owner[s]] -> dirty[s] = true :: else -> work[s] = current(s) fi
  :: state[s] == LEASE ->
     work[s] = current(s);
     if :: dead[owner[s]] -> owner[s] = 0; state[s] = READY; epoch[s]++; dirty[s] = !work[s] :: else fi
  :: state[s] == QUARANTINE ->
#if MUTATION == M_QUARANTINE_LOST
     owner[s] = 0; dirty[s] = true
#else
     if :: dead[owner[s]] -> dirty[s] = true :: else -> killed[owner[s]] = true fi
#endif
  fi
}

/* [coordinator/coordinator.cc, Round]. It may die between any two steps: all but words and journal is gone then. */
proctype Coordinator() {
  byte s, q, w;
  bool again;
life:
  atomic {
    s = 0; q = 0; w = 0; again = false;
    restore(0);
#if SLOTS == 2
    restore(1)
#endif
  }
  do
  /* a death [WorkDoor::Died] */
  :: atomic { CHOOSE(orphan); take_back(s); again = false; s = 0 }
  /* a suspicion: it may only be slow [WorkDoor::Suspect] */
  :: atomic { faults > 0 && any_slot(suspect); if :: suspect(0) -> s = 0
#if SLOTS == 2
       :: suspect(1) -> s = 1
#endif
       fi;
       faults--; killed[owner[s]] = true; from_lease[s] = (state[s] == LEASE); state[s] = QUARANTINE; epoch[s]++; s = 0 }
  /* a result [WorkDoor::ObserveResult, Scheduler::Proved]: the journal first */
#if MUTATION == M_COMMIT_LATE
  :: atomic { CHOOSE(proved); q = part[s]; j_ended[q] = true; forget(s) }
     MAY_DIE;
     atomic { ends[q]++; assert(ends[q] == 1); s = 0; q = 0 }
#else
  :: atomic { CHOOSE(proved); q = part[s];
       if
#if MUTATION == M_NO_ENDED_CHECK
       :: true -> assert(result[s] == q + 1); end_part(q)
#else
       :: work[s] && !j_stopped[q] -> assert(result[s] == q + 1); end_part(q)
       :: work[s] && j_stopped[q] -> end_part(q)
       :: else
#endif
       fi; q = 0 }
     MAY_DIE;
#if MUTATION == M_NO_WIPE
     atomic { work[s] = false; state[s] = FREE; epoch[s]++; s = 0 }
#else
     atomic { forget(s); s = 0 }
#endif
#endif
  /* a worker gave up [Scheduler::SynthFailed, GpuFailed] */
  :: atomic { CHOOSE(gave_up);
       if
       :: by_gpu[s] -> give_back(s)
       :: else -> if :: work[s] -> count_failure(s) :: else fi; work[s] = false; state[s] = FREE; epoch[s]++
       fi; again = false; s = 0 }
  /* sealed, and nobody wants it any more [Scheduler::Sealed] */
  :: atomic { CHOOSE(unwanted); forget(s); s = 0 }
  /* cancelled, or its deadline is missed [Scheduler::Cancel, Stop]: what no worker holds ends at once */
  :: atomic { cancels > 0 && any_part(live); CHOOSE_PART(live); cancels--; j_stopped[q] = true; q = 0 }
  :: atomic { CHOOSE_PART(to_stop); end_part(q);
       if :: work[0] && part[0] == q -> forget(0) :: else fi;
#if SLOTS == 2
       if :: work[1] && part[1] == q -> forget(1) :: else fi;
#endif
       q = 0 }
  /* a wipe [Scheduler::DispatchWipes] */
  :: atomic { synth_idle && any_slot(is_dirty); CHOOSE(is_dirty); CHOOSE_SYNTH; dirty[s] = false; owner[s] = w; state[s] = WIPE; epoch[s]++; w = 0; s = 0 }
  /* a lease [Scheduler::DispatchLeases]: the attempt's number first, then the word */
  :: atomic { idle(gpu) && any_slot(sealed); CHOOSE(sealed); w = gpu; if :: new_attempt[s] -> j_attempt[part[s]]++ :: else fi }
     MAY_DIE;
     atomic { attempt[s] = j_attempt[part[s]]; new_attempt[s] = false; owner[s] = w; state[s] = LEASE; epoch[s]++; w = 0; s = 0 }
  /* a grant [Scheduler::DispatchGrants] */
  :: atomic { synth_idle && any_part(waits) && any_slot(is_free); CHOOSE(is_free); CHOOSE_PART(waits); CHOOSE_SYNTH;
#if MUTATION == M_NO_JOURNAL
       part[s] = q; attempt[s] = j_attempt[q] + 1; owner[s] = w; state[s] = GRANT; epoch[s]++; work[s] = true }
     MAY_DIE;
     atomic { j_attempt[q]++; q = 0; w = 0; s = 0 }
#else
       j_attempt[q]++ }
     MAY_DIE;
     atomic { assert(low[s] == 0 && high[s] == 0 && result[s] == 0);   /* nobody's secret is left in it */
       part[s] = q; attempt[s] = j_attempt[q]; owner[s] = w; state[s] = GRANT; epoch[s]++; work[s] = true; q = 0; w = 0; s = 0 }
#endif
  :: atomic { faults > 0 -> faults--; goto life }
  od
}

/* kill -9 by anybody, and the deaths that a SIGKILL of the coordinator's leads to. A stop is a process that takes no step for a while. */
#define kill_of(x) (x != 0 && !dead[x])
#define dying(x) (x != 0 && killed[x] && !dead[x])
proctype World() {
  do
  :: atomic { faults > 0 && kill_of(gpu) -> faults--; dead[gpu] = true }
  :: atomic { faults > 0 && kill_of(synth[0]) -> faults--; dead[synth[0]] = true }
  :: atomic { dying(gpu) -> dead[gpu] = true }
  :: atomic { dying(synth[0]) -> dead[synth[0]] = true }
#if SYNTHS == 2
  :: atomic { faults > 0 && kill_of(synth[1]) -> faults--; dead[synth[1]] = true }
  :: atomic { dying(synth[1]) -> dead[synth[1]] = true }
#endif
  od
}

/* When nobody can do anything any more, everything is done: each partition ended once, no slot leaked, nothing is left in one. */
proctype AtRest() {
  byte i;
  timeout ->
  i = 0; do :: i < PARTS -> assert(ends[i] == 1); i++ :: else -> break od;
  i = 0; do :: i < SLOTS -> assert(state[i] == FREE && low[i] == 0 && high[i] == 0 && result[i] == 0); i++ :: else -> break od
}

init {
  atomic {
    run Synth(0);
#if SYNTHS == 2
    run Synth(1);
#endif
    run Gpu(); run Coordinator(); run World(); run AtRest()
  }
}
