// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All tests, in their order, and what they run in processes of their own. The including file may
// define TEST and CHILD; without, the functions are declared.

#if !defined(TEST) && !defined(CHILD)
#define TEST(name) void name(void);
#define CHILD(name) int name(void);
#endif
#ifndef TEST
#define TEST(name)
#endif
#ifndef CHILD
#define CHILD(name)
#endif

// clang-format off

// test_tables.c
TEST(tables_have_the_size_of_the_version)
TEST(tables_of_every_version_are_prefixes)
TEST(tables_have_the_order_of_the_header)
TEST(tables_refuse_what_they_cannot_fill)
TEST(tool_tables_succeed_and_write_nothing)
TEST(an_old_loader_has_the_old_entries)
TEST(an_entry_that_is_not_implemented_says_so_once)
CHILD(child_not_implemented)

// test_driver.c
TEST(initialisation_is_needed_and_may_repeat)
TEST(settings_that_are_wrong_are_named_once)
TEST(settings_give_the_number_of_devices)
TEST(settings_give_the_memory)
TEST(settings_hide_what_they_name)
TEST(driver_describes_itself)
TEST(functions_are_found_by_name)
TEST(devices_describe_themselves)
TEST(settings_forbid_peer_access)
TEST(root_devices_have_the_sub_devices_of_the_setting)
TEST(the_hierarchy_says_which_devices_there_are)
TEST(usable_memory_is_what_is_not_allocated)
TEST(global_timestamps_run_at_the_timer_resolution)
TEST(contexts_outlive_what_is_in_them)
TEST(a_handle_of_another_kind_is_refused)
CHILD(child_before_init)
CHILD(child_init_twice)
CHILD(child_devices)
CHILD(child_sizes)
CHILD(child_hidden)
CHILD(child_no_peer)
CHILD(child_sub_devices)
CHILD(child_hierarchy)

// test_memory.c
TEST(allocations_of_each_kind_know_what_they_are)
TEST(unknown_addresses_are_unknown)
TEST(allocations_are_aligned)
TEST(allocations_have_limits)
TEST(the_memory_limit_can_change)
TEST(many_allocations_are_found_by_any_address)
TEST(memory_is_committed_when_it_is_touched)
TEST(freed_memory_cannot_be_touched)
TEST(residency_is_counted)
TEST(a_blocking_free_waits_for_the_commands_that_touch_the_memory)
TEST(a_deferred_free_keeps_the_memory_until_its_commands_completed)
TEST(a_free_of_each_policy_frees)
CHILD(child_touch_freed)

// test_virtual_memory.c
TEST(page_sizes_depend_on_the_size)
TEST(large_ranges_can_be_reserved)
TEST(data_follows_physical_memory_to_another_address)
TEST(mapped_memory_is_known_as_device_memory)
TEST(a_setting_makes_mapped_memory_unknown)
TEST(access_can_change_for_part_of_a_mapping)
TEST(memory_without_access_cannot_be_touched)
TEST(mappings_that_do_not_fit_are_refused)
TEST(physical_memory_is_committed_while_it_is_used)
TEST(physical_memory_counts_against_the_limit)
TEST(mappings_are_resident_until_they_are_unmapped)
CHILD(child_mapped_unknown)
CHILD(child_write_read_only)
CHILD(child_touch_unmapped)

// test_commands.c
TEST(fills_repeat_patterns_of_every_size)
TEST(a_fill_takes_its_pattern_at_the_append)
TEST(fills_that_do_not_fit_are_refused)
TEST(copies_move_bytes)
TEST(region_copies_move_boxes)
TEST(written_timestamps_are_device_ticks_in_order)
TEST(every_append_honours_its_waits_and_its_signal)
TEST(hints_are_accepted_in_their_place)

// test_lists.c
TEST(immediate_lists_are_what_was_asked_for)
TEST(synchronising_a_list_waits_as_long_as_it_may)
TEST(a_synchronous_list_completes_each_append)
TEST(synchronising_a_device_waits_for_its_lists_only)
TEST(a_list_with_pending_commands_is_not_destroyed)
TEST(gates_count)
TEST(a_gate_closes_between_two_commands)
TEST(a_gate_lets_a_number_of_commands_through)
TEST(new_lists_can_begin_behind_a_gate)
TEST(planned_calls_fail)
TEST(a_failed_call_does_nothing)
TEST(calls_are_counted_by_entry)
TEST(live_objects_stand_in_the_table)

// test_events.c
TEST(event_pools_give_out_their_places)
TEST(the_host_signals_and_resets_events)
TEST(a_sleeping_host_is_woken)
TEST(lists_signal_and_reset_events_in_order)
TEST(a_list_waits_for_an_event_of_another_list)
TEST(events_are_for_their_context_and_devices)
TEST(timed_events_tell_start_and_end_in_ticks)

// test_counter_events.c
TEST(counter_based_events_are_armed_by_each_append)
TEST(waits_keep_the_value_of_their_append)
TEST(a_command_may_wait_for_its_own_event)
TEST(only_in_order_lists_signal_counter_based_events)
TEST(counter_based_events_are_for_the_lists_they_name)
TEST(counter_based_events_that_cannot_be_are_refused)
TEST(counter_based_events_cross_devices)

// test_regular_lists.c
TEST(regular_lists_run_when_they_are_executed)
TEST(queues_check_what_they_execute)
TEST(lists_that_run_are_in_use)
TEST(fences_belong_to_their_queue)
TEST(recorded_events_act_at_each_execution)
TEST(recorded_counter_based_events_follow_the_executions)
TEST(a_gate_holds_a_queue_within_a_list)
TEST(an_immediate_list_takes_regular_lists_in_order)
TEST(a_deferred_free_sees_commands_of_executed_lists)
TEST(a_synchronous_queue_completes_each_execution)

// test_parallel.c
TEST(threads_with_lists_of_their_own_do_not_meet)
TEST(a_ring_of_lists_keeps_its_order)
TEST(two_lists_play_ping_pong)
TEST(events_may_be_destroyed_as_soon_as_they_are_complete)
TEST(lists_may_be_destroyed_with_their_last_commands_running)
TEST(threads_allocate_and_ask_at_once)
TEST(threads_map_and_unmap_at_once)
TEST(controls_may_steer_while_lists_run)
TEST(failures_are_delivered_exactly)
TEST(many_threads_wait_for_one_list)

// clang-format on

#undef TEST
#undef CHILD
