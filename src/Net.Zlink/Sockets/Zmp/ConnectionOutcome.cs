namespace Net.Zlink.Sockets.Zmp;

/// <summary><paramref name="IsMutual"/>: the peer does the same for the same reason, so the next pause has a random part.</summary>
internal readonly record struct ConnectionOutcome(string? WhyNoFurther, string Problem, bool IsMutual);
