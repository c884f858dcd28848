namespace Net.Zlink.Services;

/// <summary>Takes a receiver out of service: notifies the gateways, continues to serve, then refuses requests, and ends when the receiver
/// is idle.</summary>
internal static class Drain
{
    // Polling interval while busy; small compared with a drain of a second.
    private static readonly TimeSpan BusyStep = TimeSpan.FromMilliseconds(10);

    /// <param name="requests">The receiver's requests; their drain has begun.</param>
    /// <param name="options">The times of the drain.</param>
    /// <param name="unregister">Removes the registrations; runs beside the drain, which does not wait for it.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver then keeps its present state.</param>
    public static async Task<DrainReport> RunAsync(
        ReceiverRequests requests, DrainOptions options, Func<Task> unregister, CancellationToken cancellationToken)
    {
        TimeProvider clock = requests.Clock;
        long start = clock.GetTimestamp();
        long acceptedBefore = Accepted(requests);
        long refusedBefore = Interlocked.Read(ref requests.Counters.Refused);
        _ = unregister(); // A dead registry must not delay the drain: the drain does not depend on the registries.
        await DelayAsync(options.MinDelay < options.Deadline ? options.MinDelay : options.Deadline, clock, cancellationToken)
            .ConfigureAwait(false);
        requests.BeginRefusing();
        bool isIdle;
        while (true)
        {
            bool isBusy = requests.Running > 0;
            TimeSpan idleFor = clock.GetElapsedTime(requests.LastActivity);
            TimeSpan left = options.Deadline - clock.GetElapsedTime(start);
            isIdle = !isBusy && idleFor >= options.IdleTime;
            if (isIdle || left <= TimeSpan.Zero)
            {
                break;
            }

            TimeSpan step = isBusy ? BusyStep : options.IdleTime - idleFor;
            await DelayAsync(step < left ? step : left, clock, cancellationToken).ConfigureAwait(false);
        }

        if (requests.Running == 0)
        {
            requests.SendEndOfService();
        }

        return new DrainReport
        {
            Accepted = Accepted(requests) - acceptedBefore,
            Refused = Interlocked.Read(ref requests.Counters.Refused) - refusedBefore,
            Unfinished = requests.Running,
            Duration = clock.GetElapsedTime(start),
            IsIdle = isIdle,
        };
    }

    private static Task DelayAsync(TimeSpan time, TimeProvider clock, CancellationToken cancellationToken) =>
        time > TimeSpan.Zero ? Task.Delay(time, clock, cancellationToken) : Task.CompletedTask;

    private static long Accepted(ReceiverRequests requests)
    {
        ReceiverCounters counters = requests.Counters;
        return Interlocked.Read(ref counters.Requests) + Interlocked.Read(ref counters.PlainMessages)
            - Interlocked.Read(ref counters.Refused);
    }
}

/// <summary>What happened while a receiver was drained.</summary>
public sealed class DrainReport
{
    internal DrainReport()
    {
    }

    /// <summary>Messages that were accepted during the drain: requests, and plain messages.</summary>
    public long Accepted { get; internal init; }

    /// <summary>Requests that were refused, so that the gateway sends them to another receiver.</summary>
    public long Refused { get; internal init; }

    /// <summary>Requests that were still being handled when the deadline came; 0 where the drain ended by itself.</summary>
    public int Unfinished { get; internal init; }

    /// <summary>How long the drain took.</summary>
    public TimeSpan Duration { get; internal init; }

    /// <summary>Whether the receiver was idle at the end. False: the deadline came first.</summary>
    public bool IsIdle { get; internal init; }
}

/// <summary>How long a receiver continues to serve when it is drained. Copied when the drain begins.</summary>
public sealed class DrainOptions
{
    /// <summary>Requests are accepted for this long, while lists and replies notify the gateways. After that requests are refused, and
    /// gateways send them elsewhere. Default 1 s.</summary>
    public TimeSpan MinDelay { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>The drain ends when nothing was accepted and nothing was running for this long. Default 250 ms.</summary>
    public TimeSpan IdleTime { get; set; } = TimeSpan.FromMilliseconds(250);

    /// <summary>The drain ends after this time in any case. Default 30 s.</summary>
    public TimeSpan Deadline { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A time is negative; the message names the property.</exception>
    public void Validate()
    {
        OptionRange.Time(MinDelay, mayBeInfinite: false);
        OptionRange.Time(IdleTime, mayBeInfinite: false);
        OptionRange.Time(Deadline, mayBeInfinite: false);
    }

    internal DrainOptions ValidCopy()
    {
        Validate();
        return (DrainOptions)MemberwiseClone();
    }
}
