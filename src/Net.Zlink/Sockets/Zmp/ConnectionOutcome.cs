namespace Net.Zlink.Sockets.Zmp;

/// <summary>What the end of a connection means for its dialer.</summary>
/// <param name="WhyNoFurther">Why it does not reconnect. Null: it does.</param>
/// <param name="Problem">What was wrong.</param>
/// <param name="ComesApart">The peer does the same for the same reason, so the next pause has a random part.</param>
internal readonly record struct ConnectionOutcome(string? WhyNoFurther, string Problem, bool ComesApart);
