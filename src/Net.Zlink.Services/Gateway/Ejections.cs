using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Takes receivers out of rotation that are connected and leave requests unanswered, and lets them in again.</summary>
/// <remarks>Safe for any number of threads. <see cref="LinkHealth"/> decides; its objects are guarded by the lock of the
/// <see cref="LinkTable"/>.</remarks>
/// <param name="router">Knows when something came over a connection.</param>
/// <param name="links">The links.</param>
/// <param name="clock">The context's.</param>
/// <param name="now">The time that requests carry.</param>
/// <param name="logger">Gets what happens.</param>
internal sealed class Ejections(
    RouterSocket router, LinkTable links, TimeProvider clock, Func<DateTimeOffset> now, ILogger logger) : IDisposable
{
    /// <summary>The time at its receiver that a time-out needs to count: a second, less what the sending takes.</summary>
    public static readonly TimeSpan LeastTime = TimeSpan.FromMilliseconds(950);

    private long _count;
    private ITimer? _timer;
    private bool _isEnded;

    /// <summary>How often a receiver was taken out.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>A request ended by time or by its caller, and nothing came from its receiver since it was sent.</summary>
    public void OnUnanswered(ReceiverLink link, DateTimeOffset sentAt, bool isTimeOut)
    {
        bool isEjected = false;
        bool wasOnTrial = false;
        LinkStanding standing = Apply(link, (health, now) =>
        {
            wasOnTrial = health.Standing == LinkStanding.OnTrial;
            if (!isTimeOut || now - sentAt < LeastTime)
            {
                health.EndTrial(sentAt);
            }
            else if (health.OnTimeOut(sentAt, now, AnsweredByOthers(link))
                && link.Listings.TrueForAll(static listing => listing.Pool.CanSpareOne))
            {
                isEjected = true;
                health.TakeOut(now);
            }
        });
        if (isEjected)
        {
            Interlocked.Increment(ref _count);
            SetTimer(); // Before the log, which may throw.
            ServicesLog.ReceiverEjected(logger, link.Receiver.Service, link.Redacted, link.Health.Pause.TotalSeconds);
        }
        else if (wasOnTrial && standing == LinkStanding.Out)
        {
            SetTimer(); // Before the log, which may throw.
            ServicesLog.ReceiverStaysEjected(logger, link.Receiver.Service, link.Redacted, link.Health.Pause.TotalSeconds);
        }
    }

    /// <summary>A message came from a receiver in doubt.</summary>
    public void OnReceived(ReceiverLink link)
    {
        bool isReadmitted = false;
        Apply(link, (health, now) => isReadmitted = health.OnReceived(now));
        if (isReadmitted)
        {
            ServicesLog.ReceiverReadmitted(logger, link.Receiver.Service, link.Redacted);
        }
    }

    /// <summary>An ordinary request may go to a link whose probe was answered.</summary>
    public bool TryBeginTrial(ReceiverLink link)
    {
        bool isBegun = false;
        Apply(link, (health, now) => isBegun = health.BeginTrial(now));
        return isBegun;
    }

    public void Dispose() => links.Read(() =>
    {
        _isEnded = true;
        _timer?.Dispose();
        return true;
    });

    private static long AnsweredByOthers(ReceiverLink link)
    {
        long answered = 0;
        foreach (Listing listing in link.Listings)
        {
            foreach (ReceiverLink other in listing.Pool.Links)
            {
                answered += ReferenceEquals(other, link) ? 0 : other.Answered;
            }
        }

        return answered;
    }

    /// <summary>Changes what is known of a link, and its pools where its standing is another one then.</summary>
    private LinkStanding Apply(ReceiverLink link, Action<LinkHealth, DateTimeOffset> change) => links.Read(() =>
    {
        LinkStanding before = link.Health.Standing;
        change(link.Health, now());
        if (link.Health.Standing != before)
        {
            link.Listings.ForEach(static listing => listing.Pool.Refresh());
        }

        return link.Health.Standing;
    });

    private void OnDue()
    {
        DateTimeOffset at = now();
        foreach (ReceiverLink link in links.Read(() => links.All.Where(link => link.Health.CheckAt <= at).ToArray()))
        {
            bool isHeard = IsHeartbeatAnswered(link);
            Apply(link, (health, now) => health.Check(isHeard, now));
        }

        SetTimer();
    }

    /// <summary>Without heartbeats this is unknown, and an ordinary request is the only probe.</summary>
    private bool IsHeartbeatAnswered(ReceiverLink link) =>
        router.Options.HeartbeatInterval == TimeSpan.Zero || link.IsInproc
        || (router.TryGetPeer(link.Name, out PeerInfo? peer) && peer.SinceLastRead < link.Health.Pause);

    private void SetTimer() => links.Read(() =>
    {
        DateTimeOffset next = links.All.Select(static link => link.Health.CheckAt).DefaultIfEmpty(DateTimeOffset.MaxValue).Min();
        if (!_isEnded && next != DateTimeOffset.MaxValue)
        {
            TimeSpan due = next - now();
            _timer ??= clock.CreateTimer(
                static state => ((Ejections)state!).OnDue(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

            // A millisecond more: timers cut fractions off.
            _timer.Change(due > TimeSpan.Zero ? due + TimeSpan.FromMilliseconds(1) : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        }

        return true;
    });
}
