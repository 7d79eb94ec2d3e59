/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated robot: steps of its compiled dynamics. */
#include <math.h>
#include <string.h>

#include "opspace_floats.h"
#include "opspace_robot.h"

extern void opspace_engine_step(int64_t engine);
extern void opspace_engine_hold(int64_t engine);
extern void opspace_engine_place(int64_t engine);

#define HOLD_RATE 0.1 /* share of the way back to the held position that the brakes go in a step */
#define FARTHEST 1e6  /* [N, Nm] */

int find_engine(opspace *robot) {
  uint32_t nq = robot->image->nq, nv = robot->image->nv, k = robot->joints, any;
  int all = 1;
  opspace_field singles, pushes;
  int has_sizes = opspace_find(robot, "single_q", &singles) == OPSPACE_OK &&
                  opspace_find(robot, "push_wrench", &pushes) == OPSPACE_OK && pushes.columns >= 6;
  if (!has_sizes) return 0;
  robot->sim = (engine_fields){
      .q = needed(robot, "tree.q", nq, &all, &any),
      .v = needed(robot, "tree.v", nv, &all, &any),
      .given = needed(robot, "given_effort", k, &all, &any),
      .applied = needed(robot, "applied", k, &all, &any),
      .dt = needed(robot, "dt", 1, &all, &any),
      .brake = needed(robot, "brake_velocity", nv, &all, &any),
      .q_next = needed(robot, "q_next", nq, &all, &any),
      .v_next = needed(robot, "v_next", nv, &all, &any),
      .q_start = needed(robot, "q_start", nq, &all, &any),
      .v_start = needed(robot, "v_start", nv, &all, &any),
      .push_steps = needed(robot, "push_steps", pushes.rows, &all, &any),
      .push_wrench = pushes.at,
      .status = needed(robot, "status", 1, &all, &any),
      .state = needed(robot, "state_now", robot->image->state, &all, &any),
      .single_q = singles.at,
      .single_v = needed(robot, "single_v", singles.columns, &all, &any),
      .push_frame = needed(robot, "push_frame", pushes.rows, &all, &any),
      .singles = singles.columns,
      .pushes = pushes.rows,
      .push_stride = pushes.stride,
  };
  for (uint32_t s = 0; all && s < robot->sim.singles; s++)
    all = (uint64_t)robot->sim.single_q[s] < nq && (uint64_t)robot->sim.single_v[s] < nv;
  if (!all) return 0;
  memcpy(robot->start, robot->sim.state, robot->image->state * sizeof(int64_t));
  memcpy(robot->start + robot->image->state, robot->sim.q, nq * sizeof(double));
  memcpy(robot->start + robot->image->state + nq, robot->sim.v, nv * sizeof(double));
  return 1;
}

static int missing(const opspace *robot) {
  if (!robot) return OPSPACE_ARGUMENT;
  return robot->engine ? OPSPACE_OK : OPSPACE_ABSENT;
}

int opspace_sim_step(opspace *robot, const double *tau) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!tau) return OPSPACE_ARGUMENT;
  memmove(robot->sim.given, tau, robot->joints * sizeof(double));
  floats_state before = floats_begin();
  opspace_engine_step(robot->engine);
  floats_end(before);
  if (*robot->sim.status != OPSPACE_OK) return *robot->sim.status == OPSPACE_REFUSED ? OPSPACE_REFUSED : OPSPACE_RUNAWAY;
  robot->steps++;
  robot->is_holding = !memcmp(tau, robot->last_safe, robot->joints * sizeof(double)) && robot->is_held;
  robot->is_held = 0;
  return OPSPACE_OK;
}

int opspace_sim_state(const opspace *robot, double *q, double *v, double *tau, double *time) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (q) memcpy(q, robot->sim.q, robot->image->nq * sizeof(double));
  if (v) memcpy(v, robot->sim.v, robot->image->nv * sizeof(double));
  if (tau) memcpy(tau, robot->sim.applied, robot->joints * sizeof(double));
  if (time) *time = (double)robot->steps * *robot->sim.dt;
  return OPSPACE_OK;
}

int opspace_sim_hold(opspace *robot, double *tau) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!tau) return OPSPACE_ARGUMENT;
  engine_fields *sim = &robot->sim;
  if (!robot->is_holding) memcpy(robot->held, sim->q, robot->image->nq * sizeof(double));
  memset(sim->brake, 0, robot->image->nv * sizeof(double));
  for (uint32_t s = 0; s < sim->singles; s++) {
    int64_t q = sim->single_q[s];
    sim->brake[sim->single_v[s]] = HOLD_RATE / *sim->dt * (robot->held[q] - sim->q[q]);
  }
  floats_state before = floats_begin();
  opspace_engine_hold(robot->engine);
  floats_end(before);
  if (*sim->status != OPSPACE_OK) return OPSPACE_RUNAWAY;
  memcpy(tau, sim->given, robot->joints * sizeof(double));
  memcpy(robot->last_safe, tau, robot->joints * sizeof(double));
  robot->is_held = 1;
  return OPSPACE_OK;
}

int opspace_sim_reset(opspace *robot, const double *q, const double *v) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  uint32_t nq = robot->image->nq, nv = robot->image->nv, words = robot->image->state;
  memcpy(robot->sim.q_next, q ? q : (const double *)(robot->start + words), nq * sizeof(double));
  memcpy(robot->sim.v_next, v ? v : (const double *)(robot->start + words + nq), nv * sizeof(double));
  floats_state before = floats_begin();
  opspace_engine_place(robot->engine);
  floats_end(before);
  if (*robot->sim.status != OPSPACE_OK) return OPSPACE_REFUSED;
  memcpy(robot->sim.state, robot->start, words * sizeof(int64_t));
  memcpy(robot->sim.q_start, robot->sim.q, nq * sizeof(double));
  memcpy(robot->sim.v_start, robot->sim.v, nv * sizeof(double));
  robot->steps = 0;
  robot->is_holding = robot->is_held = 0;
  return OPSPACE_OK;
}

int opspace_sim_push(opspace *robot, const char *frame, const double *wrench, uint32_t steps) {
  int status = missing(robot);
  if (status != OPSPACE_OK) return status;
  if (!frame || !wrench) return OPSPACE_ARGUMENT;
  for (int c = 0; c < 6; c++)
    if (!(fabs(wrench[c]) <= FARTHEST)) return OPSPACE_REFUSED;
  const uint32_t *names = image_at(robot->image, FRAMES);
  uint32_t number = 0, count = count_of(robot, FRAMES);
  while (number < count && strcmp(frame, image_text(robot->image, names[number]))) number++;
  if (number == count) return OPSPACE_NAME;
  engine_fields *sim = &robot->sim;
  uint32_t place = sim->pushes, free = sim->pushes;
  for (uint32_t p = sim->pushes; p-- > 0;) {
    if (sim->push_steps[p] == 0.0) free = p;
    else if (sim->push_frame[p] == number) place = p;
  }
  if (place == sim->pushes) place = free;
  if (place == sim->pushes) return OPSPACE_BUSY;
  sim->push_frame[place] = number;
  sim->push_steps[place] = steps;
  memcpy(sim->push_wrench + (size_t)place * sim->push_stride, wrench, 6 * sizeof(double));
  return OPSPACE_OK;
}

double opspace_sim_period(const opspace *robot) { return missing(robot) == OPSPACE_OK ? *robot->sim.dt : 0.0; }

int replay_steps(opspace *robot, const image_header *image, uint32_t *steps, uint32_t *identical, double *worst) {
  uint32_t nq = image->nq, nv = image->nv, row = 1 + nq + nv + robot->joints;
  *steps = (uint32_t)(image->sections[TICKS].count / row);
  *identical = 0;
  *worst = 0.0;
  double largest = 0.0, difference = 0.0;
  const double *step = image_at(image, TICKS);
  for (uint32_t i = 0; i < *steps; i++, step += row) {
    int status = opspace_sim_step(robot, step + 1 + nq + nv);
    if (status != OPSPACE_OK) return status;
    *identical += !memcmp(robot->sim.q, step + 1, nq * sizeof(double)) &&
                  !memcmp(robot->sim.v, step + 1 + nq, nv * sizeof(double));
    for (uint32_t j = 0; j < nq + nv; j++) {
      double found = j < nq ? robot->sim.q[j] : robot->sim.v[j - nq], apart = fabs(found - step[1 + j]);
      largest = fmax(largest, fabs(step[1 + j]));
      difference = fmax(difference, isfinite(apart) ? apart : INFINITY);
    }
  }
  *worst = largest > 0.0 ? difference / largest : difference;
  return OPSPACE_OK;
}
