namespace Net.Zlink.Sockets.Zmp;

/// <param name="ComesApart">The peer does the same for the same reason, so the next pause has a random part.</param>
internal readonly record struct ConnectionOutcome(string? WhyNoFurther, string Problem, bool ComesApart);
