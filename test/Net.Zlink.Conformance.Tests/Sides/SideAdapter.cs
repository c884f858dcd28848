using System.Collections.Concurrent;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Severing;

namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>How one socket type is played: makes its side, and knows what must arrive when a connection is severed.</summary>
/// <param name="Create">Makes the side, with its options set.</param>
/// <param name="Severing">What the application gets of a conversation that ends behind a given byte.</param>
/// <param name="SpeaksFirst">
/// The protocol sends something as soon as a connection is up. A connection that the script cuts right after taking it is then cut behind
/// that first word: otherwise
/// the reset may overtake the implementation's own news of its connection, which then never was one.
/// </param>
internal sealed record SideAdapter(Func<SideRequest, IImplementedSide> Create, ISeveringOracle Severing, bool SpeaksFirst = false)
{
    /// <summary>Its sides take endpoints in memory, too, and then leave the turns of their shards to the replay.</summary>
    public bool RunsInMemory { get; init; }

    /// <summary>The severed runs that were played already, by all that happens in them: many transcripts begin alike, and a connection that
    /// is cut there is the same run in each.</summary>
    public ConcurrentDictionary<string, bool> Severed { get; init; } = new(StringComparer.Ordinal);
}

/// <param name="Side">Type, role and options.</param>
/// <param name="Time">The clock that only the replay moves.</param>
/// <param name="TellKinds">True when an expectation says what the application is told beside the payload: receive by a way that tells
/// it.</param>
/// <param name="InMemory">The replay runs its turns, in <see cref="IImplementedSide.WhenIdleAsync"/>.</param>
internal sealed record SideRequest(Side Side, TimeProvider Time, bool TellKinds, bool InMemory);
