namespace Net.Zlink.Benchmarks.Profile;

/// <summary>Counts in how many stacks a method was the innermost (exclusive) and in how many it took part (inclusive).</summary>
internal sealed class FrameTable
{
    private readonly Dictionary<string, FrameCount> _frames = new(StringComparer.Ordinal);
    private readonly HashSet<string> _seen = new(StringComparer.Ordinal);

    public double Total { get; private set; }

    public IEnumerable<FrameCount> Frames => _frames.Values;

    /// <param name="stack">Method names, innermost first.</param>
    /// <param name="weight">What the stack counts.</param>
    public void Add(IReadOnlyList<string> stack, double weight)
    {
        if (stack.Count == 0)
        {
            return;
        }

        Total += weight;
        Of(stack[0]).Exclusive += weight;
        _seen.Clear();
        foreach (string method in stack)
        {
            // Once, however deep a recursion goes.
            if (_seen.Add(method))
            {
                Of(method).Inclusive += weight;
            }
        }
    }

    private FrameCount Of(string method)
    {
        if (!_frames.TryGetValue(method, out FrameCount? count))
        {
            _frames.Add(method, count = new FrameCount(method));
        }

        return count;
    }
}

/// <summary>One method's part.</summary>
internal sealed class FrameCount(string method)
{
    public string Method => method;

    public double Exclusive { get; set; }

    public double Inclusive { get; set; }
}
