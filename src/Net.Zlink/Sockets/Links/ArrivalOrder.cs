namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Counts runs of one lane's messages, so a flood by one peer takes one entry. An entry may outlive the messages of a dropped lane; the
/// consumer then takes the next.
/// </summary>
internal sealed class ArrivalOrder
{
    private readonly Queue<(InboundLane Lane, int Messages)> _runs = new();
    private (InboundLane? Lane, int Messages) _first;
    private (InboundLane? Lane, int Messages) _last;

    public bool IsEmpty => _first.Messages == 0 && _last.Messages == 0;

    public void Enqueue(InboundLane lane, int messages)
    {
        if (_last.Messages > 0 && !ReferenceEquals(_last.Lane, lane))
        {
            _runs.Enqueue((_last.Lane!, _last.Messages));
            _last.Messages = 0;
        }

        _last = (lane, _last.Messages + messages);
    }

    public InboundLane? Dequeue()
    {
        if (_first.Messages == 0)
        {
            if (_runs.TryDequeue(out (InboundLane Lane, int Messages) next))
            {
                _first = next;
            }
            else
            {
                _first = _last;
                _last = default;
            }
        }

        InboundLane? lane = _first.Lane;
        _first = _first.Messages > 1 ? (lane, _first.Messages - 1) : default;
        return lane;
    }

    public List<InboundLane> Clear()
    {
        var lanes = new HashSet<InboundLane>();
        while (Dequeue() is { } lane)
        {
            lanes.Add(lane);
            _first = default;
        }

        return [.. lanes];
    }
}
