using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Nats;

/// <summary>For one loop at a time.</summary>
internal sealed class FollowedLeases(StaticDirectory found, TimeProvider clock, int maxInstances)
{
    private readonly Dictionary<string, (ServiceInstance Instance, long Seen)> _byKey = new(StringComparer.Ordinal);

    /// <returns>False: there are as many as may be.</returns>
    public bool TrySet(string key, ServiceInstance instance)
    {
        bool isKnown = _byKey.TryGetValue(key, out (ServiceInstance Instance, long Seen) before);
        if (!isKnown && _byKey.Count >= maxInstances)
        {
            return false;
        }

        _byKey[key] = (instance, clock.GetTimestamp());
        if (!isKnown || !before.Instance.Equals(instance))
        {
            Show(instance.Service);
        }

        return true;
    }

    public void Remove(string key)
    {
        if (_byKey.Remove(key, out (ServiceInstance Instance, long Seen) removed))
        {
            Show(removed.Instance.Service);
        }
    }

    /// <summary>After an outage the owners need a whole lease to renew their entries.</summary>
    public void Touch()
    {
        foreach (string key in _byKey.Keys.ToArray())
        {
            _byKey[key] = (_byKey[key].Instance, clock.GetTimestamp());
        }
    }

    [SuppressMessage("Performance", "CA1851", Justification = "It is an array.")]
    public string[] OlderThan(TimeSpan age) =>
        [.. _byKey.Where(pair => clock.GetElapsedTime(pair.Value.Seen) >= age).Select(static pair => pair.Key)];

    private void Show(string service) => found.SetService(service, _byKey.Values
        .Where(entry => string.Equals(entry.Instance.Service, service, StringComparison.Ordinal)).Select(static entry => entry.Instance));
}
