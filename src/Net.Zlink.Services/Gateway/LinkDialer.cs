using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Services;

/// <summary>Connects and disconnects the links of a gateway as its schedule says: the socket makes one attempt each time. Guarded by the
/// lock of the <see cref="LinkTable"/>.</summary>
/// <param name="router">The socket.</param>
/// <param name="clock">The context's.</param>
/// <param name="limits">How many at a time.</param>
internal sealed class LinkDialer(RouterSocket router, TimeProvider clock, DialLimits limits)
{
    private readonly DialSchedule<ReceiverLink> _schedule = new(limits);
    private readonly long _start = clock.GetTimestamp();

    /// <summary>When <see cref="TryDial"/> has something to do if nothing changes before.</summary>
    public TimeSpan? NextDue => _schedule.NextDue;

    public TimeSpan Now => clock.GetElapsedTime(_start);

    public void Add(ReceiverLink link, ServicePool pool) =>
        _schedule.Add(link, pool, Now, isConnected: link.State == LinkState.Ready);

    /// <summary>A service wants it no more. A connection that is ready stays; an attempt ends with the last service.</summary>
    public void Remove(ReceiverLink link, ServicePool pool)
    {
        bool wasDialling = _schedule.IsDialling(link);
        _schedule.Remove(link, pool);
        if (wasDialling && !_schedule.IsDialling(link))
        {
            Disconnect(link);
        }
    }

    public bool OnReady(ReceiverLink link) => _schedule.OnReady(link, Now);

    /// <summary>The attempt has failed, or the connection has ended and all that belongs to it.</summary>
    /// <returns>False: that was an attempt before.</returns>
    public bool OnEnded(ReceiverLink link)
    {
        bool isPresent = _schedule.OnEnded(link, Now);
        if (isPresent || link is { Listings.Count: 0, State: LinkState.Lost })
        {
            Disconnect(link);
        }

        return isPresent;
    }

    /// <summary>It is not dialled any more while it is listed.</summary>
    public void Forget(ReceiverLink link) => link.Listings.ForEach(listing => _schedule.Remove(link, listing.Pool));

    /// <summary>Whether the schedule takes what the socket says of it for the end of an attempt, or of a connection.</summary>
    public bool HasEnded(ReceiverLink link, PeerInfo? peer) =>
        _schedule.IsConnected(link) || (_schedule.IsDialling(link) && peer is { WhyNotConnected: not null });

    /// <summary>Makes the next change.</summary>
    /// <param name="link">Which is dialled, or is not ready.</param>
    /// <param name="problem">Why it is not ready.</param>
    /// <param name="isUnusable">It never is: its endpoint is none.</param>
    /// <returns>False: there is nothing to do now.</returns>
    public bool TryDial([NotNullWhen(true)] out ReceiverLink? link, out string? problem, out bool isUnusable)
    {
        (problem, isUnusable) = (null, false);
        if (!_schedule.TryTake(Now, out link, out DialStep step))
        {
            return false;
        }

        if (step == DialStep.GiveUp)
        {
            Disconnect(link);
            problem = "the receiver has not answered, and others wait to be dialled";
            return true;
        }

        problem = Connect(link, out isUnusable);
        if (isUnusable)
        {
            Forget(link);
        }
        else if (problem is not null)
        {
            _schedule.OnEnded(link, Now);
        }

        return true;
    }

    /// <summary>Connects it without the schedule.</summary>
    /// <returns>Null, or why not.</returns>
    public string? Connect(ReceiverLink link, out bool isUnusable)
    {
        isUnusable = false;
        link.WasDialled = true;
        try
        {
            router.Connect(link.Endpoint, link.Name);
            return null;
        }
        catch (Exception e) when (e is ZlinkException or ArgumentException)
        {
            // Its last connection may still have the name.
            isUnusable = e is not ZlinkException { Error: ZlinkError.AddressInUse or ZlinkError.ContextTerminated };
            return e.Message;
        }
        catch (ObjectDisposedException e)
        {
            return e.Message;
        }
    }

    public void Disconnect(ReceiverLink link)
    {
        try
        {
            router.Disconnect(link.Endpoint);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException or ArgumentException)
        {
            // It is gone already: an endpoint that was given up, an inproc binder that has closed, or the whole socket.
        }
    }
}
