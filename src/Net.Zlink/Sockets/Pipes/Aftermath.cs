namespace Net.Zlink.Sockets.Pipes;

/// <summary>What is left to do for a receive queue once its lock is left: what may reach other locks, or the application's code.</summary>
internal struct Aftermath
{
    private InboundLane? _resume;
    private List<TakenMessage>? _unwanted;

    /// <summary>The lane's sender has room again.</summary>
    public void Resume(InboundLane lane)
    {
        if (!lane.IsToBeResumed)
        {
            lane.IsToBeResumed = true;
            lane.NextToResume = _resume;
            _resume = lane;
        }
    }

    /// <summary>Nobody wants the message any more.</summary>
    public void End(in TakenMessage message) => (_unwanted ??= []).Add(message);

    /// <summary>Does it.</summary>
    public readonly void Settle()
    {
        if (_resume is not null)
        {
            ResumeAll(_resume);
        }

        if (_unwanted is not null)
        {
            foreach (TakenMessage message in _unwanted)
            {
                message.Lease.Release(message.Slot, message.Lease.GenerationOf(message.Slot));
            }
        }
    }

    private static void ResumeAll(InboundLane? lane)
    {
        while (lane is not null)
        {
            InboundLane? next = lane.NextToResume;
            lane.NextToResume = null;
            lane.IsToBeResumed = false;
            lane.Pipe.OnRoomInLane();
            lane = next;
        }
    }
}
