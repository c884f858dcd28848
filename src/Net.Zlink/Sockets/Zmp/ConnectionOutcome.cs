namespace Net.Zlink.Sockets.Zmp;

/// <summary>What the end of a connection means for its connecter.</summary>
/// <param name="WhyNoFurther">Why it does not come again, for people; null: it does.</param>
/// <param name="Problem">What was the matter, for people.</param>
/// <param name="ComesApart">The peer does the same for the same reason, so the pause before the next attempt has a random part.</param>
internal readonly record struct ConnectionOutcome(string? WhyNoFurther, string Problem, bool ComesApart);
