using System.Text.Json;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>What a server of this program says of itself, line by line.</summary>
internal sealed class ServerStatus
{
    private readonly Lock _gate = new();
    private readonly List<ProcessSample> _samples = [];
    private string? _fault;

    /// <summary>The last thing it said.</summary>
    public ProcessSample? Latest
    {
        get
        {
            lock (_gate)
            {
                return _samples.Count == 0 ? null : _samples[^1];
            }
        }
    }

    public IReadOnlyList<ProcessSample> Samples
    {
        get
        {
            lock (_gate)
            {
                return [.. _samples];
            }
        }
    }

    /// <summary>The first line that was not understood: then it is not the server that it should be.</summary>
    public string? Fault
    {
        get
        {
            lock (_gate)
            {
                return _fault;
            }
        }
    }

    /// <param name="line">One that starts with <see cref="ChildLines.Status"/>.</param>
    public void Add(string line)
    {
        ProcessSample? sample = Parse(line);
        lock (_gate)
        {
            if (sample is not null)
            {
                _samples.Add(sample);
            }
            else
            {
                _fault ??= $"the server's status is not understood: {line}";
            }
        }
    }

    private static ProcessSample? Parse(string line)
    {
        try
        {
            return JsonSerializer.Deserialize(line.AsSpan(ChildLines.Status.Length), ChildJson.Default.ProcessSample);
        }
        catch (JsonException)
        {
            return null;
        }
    }
}
