using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>What one discovery knows of the lists of registries.</summary>
internal interface IFollowedLists
{
    ServiceKind Kind { get; }

    /// <summary>Whether an instance is listed, shown or not.</summary>
    bool Lists(string service, string endpoint);

    /// <summary>Whether a registry of the same host as this one is connected and has sent a list; null: any registry.</summary>
    bool Follows(string? registry);
}

/// <summary>A directory that knows what has left it by word, and what merely vanished from it.</summary>
internal interface IKnowsRemovals
{
    /// <summary>Whether an instance that was listed, and is not any more, was removed on purpose.</summary>
    bool IsRemoved(string service, string endpoint);
}

/// <summary>The discoveries of one context. From them the registrations of the same context learn whether they are listed.</summary>
internal sealed class FollowedLists
{
    private static readonly ConditionalWeakTable<ZlinkContext, FollowedLists> OfContexts = [];

    private readonly Lock _gate = new();
    private readonly List<IFollowedLists> _discoveries = [];

    public static FollowedLists Of(ZlinkContext context) => OfContexts.GetOrCreateValue(context);

    public void Add(IFollowedLists discovery)
    {
        lock (_gate)
        {
            _discoveries.Add(discovery);
        }
    }

    public void Remove(IFollowedLists discovery)
    {
        lock (_gate)
        {
            _discoveries.Remove(discovery);
        }
    }

    /// <summary>Whether one of them lists an instance. Null: none can tell, since they follow registries of other hosts and have never
    /// listed it, or have no connected registry. A process may serve in one group of registries and ask in another one.</summary>
    public bool? Lists(ServiceKind kind, string service, string endpoint, string registry, bool wasListed)
    {
        IFollowedLists[] asked;
        lock (_gate)
        {
            asked = [.. _discoveries.Where(discovery => discovery.Kind == kind)];
        }

        return asked.Any(discovery => discovery.Lists(service, endpoint)) ? true
            : asked.Any(discovery => discovery.Follows(wasListed ? null : registry)) ? false
            : null;
    }
}
